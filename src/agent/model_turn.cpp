// A turn of the model: from the request to the end of the answer's stream.
#include <utility>

#include "agent/agent_run.hpp"
#include "agent/turn_files.hpp"
#include "agent/turn_request.hpp"
#include "async/breath.hpp"

namespace errand::agent {
namespace {

// Calls of one chunk that are checked at a stretch; checking one may take a millisecond.
constexpr std::size_t kCallsInABreath = 8;

}  // namespace

Task<std::optional<std::shared_ptr<const llm::TurnFiles>>> AgentRun::load_files(
    std::vector<FilePart> wanted) {
  if (wanted.empty()) co_return nullptr;
  // The store may not have the bytes of a result that was recorded just now.
  if (log_->has_pending()) {
    auto durable = co_await log_->flush();
    if (!durable) co_return std::nullopt;
  }
  auto files = co_await read_files(&around_.store, key_, std::move(wanted));
  if (!files) {
    observer_.on_broken(files.error());
    co_return std::nullopt;
  }
  for (const auto& [hash, bytes] : (*files)->bytes) {
    if (bytes) continue;
    around_.log.error("a file of a run cannot be read; 'errand check-data' shows more",
                      {{"run", key_.run.str()}, {"sha256", hash}});
  }
  co_return std::move(*files);
}

void AgentRun::begin_turn(TurnEntry& entry) {
  failure_.reset();
  text_.clear();
  blocks_.clear();
  answered_by_.reset();
  if (std::exchange(opening_, Opening::none) != Opening::ask) {
    // Tells readers to drop the events of the turn's earlier attempt.
    bool is_shown =
        entry.turn == state_->turn().index && log_->last_seq() > state_->turn().after_seq;
    if (is_shown) {
      log_->emit(TurnRestarted{.turn = entry.turn, .attempt = entry.attempt});
      entry.after_seq = log_->last_seq();
    }
    if (entry.turn != state_->turn().index) {
      calls_.clear();
      if (auto event = steering_after(*state_).event; event && state_->turn().end) {
        log_->emit(*event);
        entry.after_seq = log_->last_seq();
      }
    }
    record(entry, RunLog::kEchoWait);
  }
  log_->set_status(RunStatus::running, RunLog::kEchoWait);
  ++around_.counters.model_calls;
  ++around_.counters.of_model(state_->created().model.id).calls;
  if (entry.attempt > 1) ++around_.counters.model_retries;
  if (trace_) trace_->begin_turn(entry);
}

void AgentRun::ask_model(std::shared_ptr<const llm::TurnFiles> files) {
  llm::TurnRequest request = make_turn_request(*state_, std::move(files));
  request.on_retry = [this](const ModelRetry& retry) { observer_.on_retry(retry); };
  stream_ = model_->ask(std::move(request));
}

// A model may think for minutes: what the rare events need is in tasks of their own.
Task<void> AgentRun::read_answer() {
  const SteadyTime begun = around_.timers.now();
  Breath breath(kCallsInABreath);
  for (bool streaming = true; streaming && !log_->failed();) {
    // While the store takes no more, nothing is read: the vendor has to wait, and memory does not
    // grow.
    if (!log_->has_room()) co_await log_->room();
    std::vector<llm::TurnEvent> events = co_await stream_->next();
    for (std::size_t i = 0; i < events.size() && streaming; ++i) {
      if (take_part(events[i])) {
        // One chunk may have megabytes of text.
        if (!log_->has_room()) co_await log_->room();
        continue;
      }
      streaming = co_await close_part(&events[i]);
      // Calls are checked as they arrive, and many may arrive in one chunk.
      if (streaming && breath.is_due(1)) co_await let_others_run();
    }
  }
  stream_.reset();
  const SteadyTime::duration taken = around_.timers.now() - begun;
  around_.counters.model_times.observe(taken);
  around_.counters.of_model(state_->created().model.id).time += taken;
}

bool AgentRun::take_part(llm::TurnEvent& event) {
  if (trace_) trace_->see_answer();
  if (auto* delta = std::get_if<llm::TextDelta>(&event)) {
    text_ += delta->text;
    log_->emit_delta(AssistantDelta{std::move(delta->text)});
  } else if (auto* thought = std::get_if<llm::ThinkingDelta>(&event)) {
    if (state_->created().spec.reasoning_level.value_or(0) > 0) {
      log_->emit_delta(ThinkingDelta{std::move(thought->text)});
    }
  } else if (auto* block = std::get_if<llm::BlockClosed>(&event)) {
    blocks_.push_back(std::move(block->json));
  } else if (auto* by = std::get_if<AnsweredBy>(&event)) {
    answered_by_ = std::move(*by);
  } else {
    return false;
  }
  return true;
}

Task<bool> AgentRun::close_part(llm::TurnEvent* event) {
  if (auto* call = std::get_if<llm::CallClosed>(event)) {
    co_await close_call(std::move(*call));
    co_return true;
  }
  co_await close_turn(std::move(*event));
  co_return false;
}

Task<void> AgentRun::close_turn(llm::TurnEvent last) {
  if (auto* finished = std::get_if<llm::Finished>(&last)) {
    co_await end_turn(std::move(finished->finish_reason), finished->usage, {});
  } else {
    co_await fail_turn(std::get<llm::Failed>(std::move(last)));
  }
}

Task<void> AgentRun::fail_turn(llm::Failed failed) {
  ++around_.counters.model_failures;
  ++around_.counters.of_model(state_->created().model.id).failures;
  // The vendor ended the answer on purpose: the turn is over, and its text so far is a message.
  if (ends_answer(failed.failure) && !text_.empty() && state_->turn().calls.empty()) {
    std::string reason = failed.failure.error_class;
    co_await end_turn(std::move(reason), {}, std::move(failed.failure));
  } else {
    if (trace_) trace_->fail_turn(failed.failure);
    failure_ = std::move(failed);
  }
}

Task<void> AgentRun::close_call(llm::CallClosed call) {
  if (call.arguments.empty()) call.arguments = "{}";
  record(CallEntry{.id = around_.ids.make<ToolUseIdTag>("tu_"),
                   .provider_id = std::move(call.provider_id),
                   .name = std::move(call.name),
                   .arguments = std::move(call.arguments),
                   .text = std::exchange(text_, {}),
                   .blocks = std::exchange(blocks_, {})});
  const std::size_t last = state_->turn().calls.size() - 1;
  if (!holds_calls(*state_)) co_await judge_calls(last);
  start_ready_calls(last);
}

Task<std::vector<ListedCall>> AgentRun::listed_calls() {
  Breath breath(kBytesInABreath);
  std::vector<ListedCall> calls;
  for (std::size_t i = 0; i < state_->turn().calls.size(); ++i) {
    const CallState& call = state_->turn().calls[i];
    calls.push_back({.id = call.id, .name = call.name, .input = shown_input(call)});
    if (breath.is_due(call.arguments.size())) co_await let_others_run();
  }
  co_return calls;
}

// The end of the turn and its message go into the same segment, so nothing is awaited between them.
Task<void> AgentRun::end_turn(std::string finish_reason, Usage usage, Sparse<ModelFailure> fatal) {
  std::vector<ListedCall> calls = co_await listed_calls();
  around_.counters.tokens += usage;
  const ModelInfo& answering = answered_by_ ? answered_by_->model : state_->created().model;
  around_.counters.of_model(answering.id).tokens += usage;
  TurnEndEntry end{.text = std::exchange(text_, {}),
                   .blocks = std::exchange(blocks_, {}),
                   .finish_reason = finish_reason,
                   .usage = usage,
                   .fatal = std::move(fatal),
                   .answered_by = std::exchange(answered_by_, {})};
  if (trace_) trace_->end_turn(end);
  record(std::move(end));
  AssistantMessage message{.text = state_->last_text(),
                           .turn = state_->turn().index,
                           .finish_reason = std::move(finish_reason),
                           .calls = std::move(calls)};
  log_->emit(message);
  // Calls that have begun were shown with their arguments, which are not needed any more.
  calls_.drop_shown();
}

}  // namespace errand::agent
