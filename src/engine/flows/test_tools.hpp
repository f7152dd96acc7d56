#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "async/timers.hpp"
#include "base/text.hpp"
#include "json/write.hpp"
#include "tool/call_questions.hpp"
#include "tool/tool_source.hpp"

// Tools of the process of a test.
namespace errand::engine::testing {

// A tool of this process that counts how often it was begun and under which keys.
struct ToolLog {
  int begun = 0;
  std::set<std::string> keys;
};
class CountingTool final : public Tool {
 public:
  CountingTool(ToolDecl decl, ToolLog& log, std::function<void()> before_effect)
      : decl_(std::move(decl)), log_(log), before_effect_(std::move(before_effect)) {}
  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall call, ToolContext) override {
    before_effect_();
    ++log_.begun;
    log_.keys.insert(call.id.str());
    co_return text_outcome("counted");
  }

 private:
  ToolDecl decl_;
  ToolLog& log_;
  std::function<void()> before_effect_;
};

// A tool of this process that notes what it is about to do, and does it once.
class NotingTool final : public Tool {
 public:
  NotingTool(ToolDecl decl, ToolLog& log, std::function<void()> before_effect)
      : decl_(std::move(decl)), log_(log), before_effect_(std::move(before_effect)) {}
  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override {
    if (context.notes->last()) {
      co_return text_outcome(cat("resumed from ", json::write(*context.notes->last())));
    }
    auto kept = co_await context.notes->keep({{"step", "first"}});
    if (!kept) co_return failed_outcome("not kept");
    before_effect_();
    ++log_.begun;
    log_.keys.insert(call.id.str());
    kept = co_await context.notes->keep({{"step", "second"}});
    co_return kept ? text_outcome("noted") : failed_outcome("not kept");
  }

 private:
  ToolDecl decl_;
  ToolLog& log_;
  std::function<void()> before_effect_;
};

// A tool of this process that asks the client, then the model, and tells what they said.
class AskingTool final : public Tool {
 public:
  AskingTool(ToolDecl decl, std::function<void()> before_question)
      : decl_(std::move(decl)), before_question_(std::move(before_question)) {}
  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall, ToolContext context) override {
    before_question_();
    if (!context.questions) co_return failed_outcome("nobody to ask");
    auto said = co_await PendingAnswer<ToolAnswer>::wait(
        context.questions->ask_client({.name = "who", .args = {{"q", "who?"}}}));
    if (!said) co_return failed_outcome(said.error().message());
    before_question_();
    ModelQuestion question{.messages = {{.text = "and you?"}}};
    auto meant = co_await PendingAnswer<ModelAnswer>::wait(
        context.questions->ask_model(std::move(question)));
    co_return text_outcome(cat(said->ok ? "yes: " : "no: ", said->text, "; ",
                               meant ? meant->text : meant.error().message()));
  }

 private:
  ToolDecl decl_;
  std::function<void()> before_question_;
};

// A tool of this process that takes an hour.
class SlowTool final : public Tool {
 public:
  SlowTool(ToolDecl decl, Timers& timers, int& ended)
      : decl_(std::move(decl)), timers_(timers), ended_(ended) {}
  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall, ToolContext) override {
    struct Ending {
      int& count;
      ~Ending() { ++count; }
    };
    Ending ending{ended_};
    co_await timers_.sleep_until(timers_.now() + std::chrono::hours(1));
    co_return text_outcome("done at last");
  }

 private:
  ToolDecl decl_;
  Timers& timers_;
  int& ended_;
};

// A tool of this process that reports how far it is and gives back a file, or a failure that ends
// the run.
class ShowingTool final : public Tool {
 public:
  ShowingTool(ToolDecl decl, ToolOutcome::Kind kind, std::function<void()> before_effect)
      : decl_(std::move(decl)), kind_(kind), before_effect_(std::move(before_effect)) {}
  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall, ToolContext context) override {
    context.progress->report({.message = "half"});
    before_effect_();
    ToolOutcome outcome = text_outcome("shown");
    outcome.kind = kind_;
    FilePart file{.filename = "shown.txt",
                  .mime_type = "text/plain",
                  .bytes = std::make_shared<const std::string>("bytes")};
    outcome.content.emplace_back(
        FileContent{.kind = FileContent::Kind::file, .file = std::move(file)});
    co_return outcome;
  }

 private:
  const ToolDecl decl_;
  const ToolOutcome::Kind kind_;
  const std::function<void()> before_effect_;
};

class ToolTable final : public ToolSource {
 public:
  Result<std::vector<ToolDecl>> bind(const ToolRef& ref, const Principal&) override {
    auto found = tools.find(std::get<HostTool>(ref).name);
    if (found == tools.end()) {
      return Error(ErrorCode::invalid_argument, "there is no such tool").pointer("/name");
    }
    return std::vector<ToolDecl>{found->second->decl()};
  }
  ToolPtr open(const ToolDecl& binding, const ToolRef&, const Principal&) override {
    auto found = tools.find(binding.name);
    return found == tools.end() ? nullptr : found->second;
  }
  std::map<std::string, ToolPtr> tools;
};

}  // namespace errand::engine::testing
