#include "sdk/local_calls.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "sdk/local_questions.hpp"

namespace errand::sdk {

LocalCalls::LocalCalls(RunApi& api, Timers& timers, Executor home, const FixedTools& tools,
                       Teller tell, std::optional<milliseconds> timeout)
    : timers_(timers),
      tools_(tools),
      tell_(std::move(tell)),
      timeout_(timeout),
      held_(api, timers, home, tell_),
      posting_(home, bugs_to(tell_)),
      working_(home, bugs_to(tell_)) {}

void LocalCalls::start(const RunId& run, const LocalToolCall& call) {
  if (call.id.empty() || calls_.contains(call.id)) return;
  auto held = std::make_shared<HeldCall>(HeldCall{.run = run, .id = call.id});
  calls_.emplace(call.id, Call{.held = std::move(held), .index = calls_.size()});
  ToolPtr tool = tools_.find(call.name);
  bool is_parallel = !tool || tool->decl().annotations.parallel_safe;
  order_.add(is_parallel ? DispatchOrder::Kind::parallel : DispatchOrder::Kind::barrier);
  waiting_.push_back({.id = call.id, .name = call.name, .arguments = call.args});
  start_what_may();
}

void LocalCalls::start_what_may() {
  std::deque<Waiting> later;
  for (Waiting& call : std::exchange(waiting_, {})) {
    Call& known = calls_.at(call.id);
    if (known.took) continue;
    if (order_.may_start(known.index)) {
      known.task = working_.spawn("tool call", work(std::move(call)));
    } else {
      later.push_back(std::move(call));
    }
  }
  waiting_ = std::move(later);
}

std::optional<milliseconds> LocalCalls::took(const ToolUseId& call) const {
  auto found = calls_.find(call);
  return found == calls_.end() ? std::nullopt : found->second.took;
}

Task<void> LocalCalls::work(Waiting call) {
  ToolUseId id = call.id;
  bool is_ours = co_await take(id, call.name);
  if (working_.cancelled()) co_return;
  if (!is_ours) co_return drop(id);
  if (calls_.at(id).took) co_return;
  calls_.at(id).started = timers_.now();
  ToolOutcome outcome = co_await invoke(std::move(call), calls_.at(id).held);
  // The outcome of a tool that was cut off would only keep the run going.
  if (working_.cancelled()) co_return;
  settle(id, time_of(calls_.at(id)), std::move(outcome));
  start_what_may();
}

Task<bool> LocalCalls::take(ToolUseId id, std::string name) {
  ToolPtr tool = tools_.find(name);
  if (!tool || tool->decl().annotations.read_only || tool->decl().annotations.idempotent) {
    co_return true;
  }
  milliseconds pause = HeldCalls::kPauseFirst;
  for (int attempt = 0; attempt < HeldCalls::kAttemptsMax; ++attempt) {
    auto claim = co_await held_.claim(calls_.at(id).held, kClaimTime);
    if (claim) co_return true;
    const Error& error = claim.error();
    if (error.reason() == "unknown_tool_use") co_return false;
    if (error.reason() == "claimed") {
      leave_to_others(id);
      attempt = 0;
      co_await timers_.sleep_until(timers_.now() + kLookAgain);
      continue;
    }
    // A server without claims cannot keep other clients off the call.
    if (!is_worth_retrying(error)) co_return true;
    co_await timers_.sleep_until(timers_.now() + pause);
    pause = std::min(pause * 2, HeldCalls::kPauseMax);
  }
  co_return false;
}

void LocalCalls::leave_to_others(const ToolUseId& id) {
  Call& call = calls_.at(id);
  if (call.took || std::exchange(call.is_left, true)) return;
  tell_(cat("another client has begun the tool call ", id.view(),
            ", or one that was killed; its result is waited for, and the call is made here only if "
            "that client gives it back"));
  order_.finished(call.index);
  start_what_may();
}

void LocalCalls::drop(const ToolUseId& id) {
  Call& call = calls_.at(id);
  if (call.took) return;
  call.took = milliseconds(0);
  order_.finished(call.index);
  start_what_may();
}

milliseconds LocalCalls::time_of(const Call& call) const {
  if (!call.started) return milliseconds(0);
  return std::chrono::duration_cast<milliseconds>(timers_.now() - *call.started);
}

Task<ToolOutcome> LocalCalls::invoke(Waiting call, HeldCallPtr held) {
  ToolPtr tool = tools_.find(call.name);
  if (!tool) co_return failed_outcome(cat("there is no tool \"", call.name, "\" here"));
  auto arguments = json::parse(call.arguments, {.duplicate_keys = json::DuplicateKeys::last_wins});
  if (!arguments || !arguments->is_object())
    co_return failed_outcome("the arguments must be an object");
  ToolCall made{.run = held->run, .id = call.id, .arguments = std::move(arguments->get_object())};
  CallReporter reporter(held_, std::move(held));
  ToolContext context;
  context.progress = &reporter;
  LocalQuestions questions(working_, tools_, made.run, made.id);
  context.questions = &questions;
  std::optional<milliseconds> limit = tool->decl().annotations.timeout;
  if (!limit) limit = timeout_;
  if (limit) context.deadline = timers_.now() + *limit;
  co_return co_await tool->invoke(std::move(made), context);
}

void LocalCalls::settle(const ToolUseId& id, milliseconds took, ToolOutcome outcome) {
  Call& call = calls_.at(id);
  if (call.took) return;
  call.took = took;
  order_.finished(call.index);
  posting_.spawn("tool result", post(call.held, answer_of(std::move(outcome))));
}

void LocalCalls::settled_elsewhere(const ToolUseId& id) {
  auto found = calls_.find(id);
  if (found == calls_.end() || found->second.took) return;
  found->second.took = time_of(found->second);
  order_.finished(found->second.index);
  if (found->second.task) working_.cancel_one(*found->second.task);
  start_what_may();
}

void LocalCalls::cut_off() {
  working_.cancel(CancelReason::user_stop);
}

void LocalCalls::give_up() {
  for (const auto& [id, call] : calls_) {
    if (!call.took) settle(id, time_of(call), failed_outcome("the user has stopped the run"));
  }
}

Task<void> LocalCalls::stop() {
  const bool is_first = !working_.cancelled();  // otherwise the run or its user stopped the calls
  co_await working_.stop(CancelReason::shutdown);
  for (const auto& [id, call] : calls_) {
    if (call.took) continue;
    if (!call.started) held_.give_back(call.held);
    if (call.started && is_first) held_.say_cut_off(call.held);
  }
  co_await held_.stop();
  co_await posting_.stop(CancelReason::shutdown);
}

// An answer to a call that is lost is too late: an earlier attempt was taken, or the run is over.
Task<void> LocalCalls::post(HeldCallPtr call, ToolAnswer answer) {
  auto posted = co_await held_.post(std::move(call), std::move(answer));
  if (posted || is_lost(posted.error()) || is_worth_retrying(posted.error())) co_return;
  tell_(cat("the answer to a tool call was refused: ", posted.error().describe()));
}

}  // namespace errand::sdk
