#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "async/timers.hpp"
#include "async/wakeup.hpp"
#include "base/clock.hpp"
#include "engine/history/recording.hpp"
#include "llm/model.hpp"
#include "run/log/mail.hpp"
#include "tool/tool_source.hpp"

// The surroundings of a run that is replayed: a clock, a model and tools that repeat what they did.
namespace errand::engine {

// Goes with the timers, beginning when the run was created.
class PlayClock final : public Clock {
 public:
  PlayClock(WallTime begin, const Timers& timers) : begin_(begin), timers_(timers) {}
  WallTime now() const override {
    return begin_ + std::chrono::duration_cast<milliseconds>(timers_.now().time_since_epoch());
  }
  SteadyTime steady_now() const override { return timers_.now(); }

 private:
  const WallTime begin_;
  const Timers& timers_;
};

// One recorded answer of the model, all at once.
class PlayedTurn final : public llm::TurnStream {
 public:
  PlayedTurn(RecordedAttempt attempt, Executor home)
      : events_(std::move(attempt.events)), wakeup_(std::move(home)) {}

  Task<std::vector<llm::TurnEvent>> next() override {
    if (!events_.empty() && !is_aborted_) co_return std::exchange(events_, {});
    if (!is_aborted_) co_await wakeup_.wait();
    std::vector<llm::TurnEvent> end;
    end.emplace_back(llm::Failed{{.error_class = "server",
                                  .message = "the stream of the model was closed",
                                  .retryable = true}});
    co_return end;
  }

  void abort() override {
    is_aborted_ = true;
    wakeup_.notify();
  }

 private:
  std::vector<llm::TurnEvent> events_;
  bool is_aborted_ = false;
  Wakeup wakeup_;
};

class PlayedModel final : public llm::Model {
 public:
  PlayedModel(std::vector<RecordedAttempt> attempts, Executor home)
      : attempts_(std::move(attempts)), home_(std::move(home)) {}

  std::unique_ptr<llm::TurnStream> ask(llm::TurnRequest) override {
    std::size_t number = asked_++;
    if (number < attempts_.size()) return std::make_unique<PlayedTurn>(attempts_[number], home_);
    RecordedAttempt none;
    none.events.emplace_back(llm::Failed{
        {.error_class = "invalid_request", .message = "the recording ends before this question"}});
    return std::make_unique<PlayedTurn>(std::move(none), home_);
  }

  std::size_t asked() const { return asked_; }

 private:
  const std::vector<RecordedAttempt> attempts_;
  const Executor home_;
  std::size_t asked_ = 0;
};

// Calls in the server that wait for their recorded results.
class PlayedCalls final {
 public:
  explicit PlayedCalls(Executor home) : home_(std::move(home)) {}

  bool is_waiting(const ToolUseId& id) const { return waiting_.contains(id); }
  void answer(const ToolUseId& id, const RecordedAnswer& answer) {
    answers_[id] = answer;
    waiting_.at(id)->notify();
  }

  Task<ToolOutcome> wait(ToolUseId id) {
    Wakeup wakeup(home_);
    waiting_[id] = &wakeup;
    struct Leave {
      std::map<ToolUseId, Wakeup*>& waiting;
      ToolUseId id;
      ~Leave() { waiting.erase(id); }
    };
    Leave leave{waiting_, id};
    co_await wakeup.wait();
    const ToolAnswer& answer = answers_[id].answer;
    ToolOutcome outcome = answer.ok ? text_outcome(answer.text) : failed_outcome(answer.text);
    if (answer.is_fatal) outcome.kind = ToolOutcome::Kind::fatal;
    outcome.child_turns = answers_[id].child_turns;
    for (const FilePart& file : answer.files)
      outcome.content.emplace_back(FileContent{.file = file});
    co_return outcome;
  }

 private:
  const Executor home_;
  std::map<ToolUseId, Wakeup*> waiting_;
  std::map<ToolUseId, RecordedAnswer> answers_;
};

class PlayedTool final : public Tool {
 public:
  PlayedTool(ToolDecl decl, PlayedCalls& calls) : decl_(std::move(decl)), calls_(calls) {}
  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall call, ToolContext) override { return calls_.wait(call.id); }

 private:
  const ToolDecl decl_;
  PlayedCalls& calls_;
};

class PlayedTools final : public ToolSource {
 public:
  PlayedTools(const Recording& recording, PlayedCalls& calls) {
    for (const ToolDecl& decl : *std::get<CreatedEntry>(recording.head.front()).tools) {
      const std::vector<std::string>& used = recording.host_tools;
      if (std::find(used.begin(), used.end(), decl.name) == used.end()) continue;
      tools_[decl.name] = std::make_shared<PlayedTool>(decl, calls);
      sources_.add(decl.origin.source, {}, *this);
    }
  }

  // All sources of the recorded run, played by this one.
  const ToolSources& sources() const { return sources_; }

  Result<std::vector<ToolDecl>> bind(const ToolRef&, const Principal&) override {
    return std::vector<ToolDecl>();
  }
  ToolPtr open(const ToolDecl& binding, const ToolRef&, const Principal&) override {
    auto found = tools_.find(binding.name);
    return found == tools_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string, ToolPtr, std::less<>> tools_;
  ToolSources sources_;
};

}  // namespace errand::engine
