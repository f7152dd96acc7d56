#include "sdk/local_calls.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/parse.hpp"

namespace errand::sdk {

ToolAnswer answer_of(ToolOutcome outcome) {
  FlatContent flat = flatten(std::move(outcome.content));
  if (outcome.ok()) return {.text = std::move(flat.text), .files = std::move(flat.files)};
  return {.ok = false,
          .text = without_middle(flat.text, kErrorBytesMax),
          .is_fatal = outcome.kind == ToolOutcome::Kind::fatal};
}

// Posts what a call reports while it runs.
class LocalCalls::Reporter final : public ProgressSink {
 public:
  Reporter(LocalCalls& calls, ToolUseId id) : calls_(calls), id_(id) {}
  void report(ProgressReport report) override { calls_.report(id_, std::move(report)); }

 private:
  LocalCalls& calls_;
  const ToolUseId id_;
};

LocalCalls::LocalCalls(RunApi& api, Timers& timers, Executor home, const FixedTools& tools,
                       Teller tell, std::optional<milliseconds> timeout)
    : api_(api),
      timers_(timers),
      tools_(tools),
      tell_(std::move(tell)),
      timeout_(timeout),
      home_(home),
      claiming_(home, bugs_to(tell_)),
      posting_(home, bugs_to(tell_)),
      working_(home, bugs_to(tell_)) {}

void LocalCalls::start(const RunId& run, const LocalToolCall& call) {
  bool is_new =
      !call.id.empty() && calls_.emplace(call.id, Call{.run = run, .index = calls_.size()}).second;
  if (!is_new) return;
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
  ToolOutcome outcome = co_await invoke(std::move(call), calls_.at(id).run);
  // What a tool says that was cut off would only keep the run going.
  if (working_.cancelled()) co_return;
  settle(id, time_of(calls_.at(id)), std::move(outcome));
  start_what_may();
}

Task<bool> LocalCalls::take(ToolUseId id, std::string name) {
  ToolPtr tool = tools_.find(name);
  if (!tool || tool->decl().annotations.read_only || tool->decl().annotations.idempotent) {
    co_return true;
  }
  milliseconds pause = kPauseFirst;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    claiming_.spawn("tool claim", ask_for_claim(id));
    {
      WakeupAt bell(home_, calls_.at(id).claimed);
      while (!calls_.at(id).asked) co_await bell.wait();
    }
    auto claim = *std::exchange(calls_.at(id).asked, {});
    if (claim) co_return true;
    const Error& error = claim.error();
    if (error.reason() == "unknown_tool_use") co_return false;
    if (error.reason() == "claimed") {
      leave_to_others(id);
      attempt = 0;
      co_await timers_.sleep_until(timers_.now() + kLookAgain);
      continue;
    }
    // A server without claims has no other client to keep off.
    if (!is_worth_retrying(error)) co_return true;
    co_await timers_.sleep_until(timers_.now() + pause);
    pause = std::min(pause * 2, kPauseMax);
  }
  co_return false;
}

// A request that is cut off may have made a claim that nobody knows of. It ends here in peace, and
// a claim that nobody waits for any more is given back.
Task<void> LocalCalls::ask_for_claim(ToolUseId id) {
  auto claim = co_await api_.claim(id, kClaimTime);
  Call& call = calls_.at(id);
  if (claim) call.claim = *claim;
  if (call.claimed) {
    call.asked = std::move(claim);
    call.claimed->notify();
  } else if (claim) {
    co_await give_back(id);
  }
}

Task<void> LocalCalls::give_back(ToolUseId id) {
  std::string claim = std::exchange(calls_.at(id).claim, {});
  [[maybe_unused]] auto over = co_await api_.extend(id, std::move(claim), milliseconds(1));
}

Task<void> LocalCalls::say_cut_off(ToolUseId id) {
  ToolAnswer answer = answer_of(failed_outcome(
      "The client was closed while this call ran. The call may or may not have taken effect."));
  [[maybe_unused]] auto posted =
      co_await api_.answer(calls_.at(id).run, id, std::move(answer), calls_.at(id).claim);
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

Task<ToolOutcome> LocalCalls::invoke(Waiting call, RunId run) {
  ToolPtr tool = tools_.find(call.name);
  if (!tool) co_return failed_outcome(cat("there is no tool \"", call.name, "\" here"));
  auto arguments = json::parse(call.arguments, {.duplicate_keys = json::DuplicateKeys::last_wins});
  if (!arguments || !arguments->is_object())
    co_return failed_outcome("the arguments must be an object");
  ToolCall made{.run = run, .id = call.id, .arguments = std::move(arguments->get_object())};
  Reporter reporter(*this, call.id);
  ToolContext context;
  context.progress = &reporter;
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
  posting_.spawn("tool result", post(call.run, id, answer_of(std::move(outcome))));
}

void LocalCalls::settled_elsewhere(const ToolUseId& id) {
  auto found = calls_.find(id);
  if (found == calls_.end() || found->second.took) return;
  found->second.took = time_of(found->second);
  order_.finished(found->second.index);
  if (found->second.task) working_.cancel_one(*found->second.task);
  start_what_may();
}

void LocalCalls::report(const ToolUseId& id, ProgressReport report) {
  Call& call = calls_.at(id);
  call.report = std::move(report);
  if (!std::exchange(call.is_reporting, true)) {
    posting_.spawn("tool progress", post_reports(id));
  }
}

// Nobody waits for a report: one that cannot be posted is dropped.
Task<void> LocalCalls::post_reports(ToolUseId id) {
  while (auto report = std::exchange(calls_.at(id).report, {})) {
    [[maybe_unused]] auto posted = co_await api_.report_progress(id, std::move(*report));
  }
  calls_.at(id).is_reporting = false;
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
  const bool is_first = !working_.cancelled();  // otherwise the run, or its user, has stopped them
  co_await working_.stop(CancelReason::shutdown);
  for (const auto& [id, call] : calls_) {
    if (call.claim.empty() || call.took) continue;
    if (!call.started) claiming_.spawn("tool claim", give_back(id));
    if (call.started && is_first) claiming_.spawn("tool result", say_cut_off(id));
  }
  TimerGuard bound(timers_, timers_.now() + kLeaveMax,
                   [this] { claiming_.cancel(CancelReason::shutdown); });
  co_await claiming_.join();
  co_await posting_.stop(CancelReason::shutdown);
}

// 404 and 409 mean that an earlier attempt was heard, or that the run is over.
Task<void> LocalCalls::post(RunId run, ToolUseId id, ToolAnswer answer) {
  milliseconds pause = kPauseFirst;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    auto posted = co_await api_.answer(run, id, answer, calls_.at(id).claim);
    if (posted || posted.error().code() == ErrorCode::not_found ||
        posted.error().code() == ErrorCode::conflict) {
      co_return;
    }
    if (!is_worth_retrying(posted.error())) {
      co_return tell_(cat("the answer to a tool call was refused: ", posted.error().describe()));
    }
    co_await timers_.sleep_until(timers_.now() + pause);
    pause = std::min(pause * 2, kPauseMax);
  }
}

}  // namespace errand::sdk
