#include "sdk/client/serving.hpp"

#include <algorithm>
#include <utility>

#include "json/parse.hpp"
#include "sdk/bridge/public_error.hpp"

namespace errand::sdk {
namespace {

constexpr milliseconds kPauseBeaten{50};

// Both times are the server's.
SteadyTime deadline_of(const OpenCall& call, const Claim& claim, SteadyTime now) {
  if (!call.over || !claim.at) return SteadyTime::max();
  return now + (*call.over - *claim.at);
}

}  // namespace

Serving::Serving(Params params)
    : params_(std::move(params)),
      held_(params_.api, params_.timers, params_.home, params_.tell,
            [this](const Error& error) { tell(error); }),
      polling_(params_.home, bugs_to(params_.tell)),
      working_(params_.home, bugs_to(params_.tell)) {}

void Serving::start() {
  for (const ToolPtr& tool : params_.tools) polling_.spawn("worker.poll", poll(tool));
}

Task<void> Serving::finish() {
  co_await polling_.stop(CancelReason::shutdown);
  co_await working_.join();
  co_await held_.stop();
}

Task<void> Serving::stop() {
  co_await polling_.stop(CancelReason::shutdown);
  co_await working_.stop(CancelReason::shutdown);
  // The remaining calls were claimed, but their work has not begun.
  for (const auto& [id, work] : works_) held_.give_back(work.call);
  co_await held_.stop();
}

// ---- Failures -----------------------------------------------------------------------------------

void Serving::tell(const Error& error) const {
  if (params_.on_error) params_.on_error(public_error(error));
}

void Serving::give_up(const Error& error) {
  {
    std::lock_guard lock(mutex_);
    if (error_) return;
    error_ = public_error(error);
  }
  tell(error);
  polling_.cancel(CancelReason::shutdown);
}

std::optional<v1::Error> Serving::error() const {
  std::lock_guard lock(mutex_);
  return error_;
}

// ---- Finding calls ------------------------------------------------------------------------------

Task<void> Serving::wait_for_room() {
  Wakeup bell(params_.home);
  struct Listed {
    std::set<Wakeup*>& all;
    Wakeup* me;
    ~Listed() { all.erase(me); }
  };
  waiting_.insert(&bell);
  Listed listed{waiting_, &bell};
  while (running_ >= params_.calls_max) co_await bell.wait();
}

Task<void> Serving::poll(ToolPtr tool) {
  milliseconds pause = kPauseFirst;
  for (;;) {
    co_await wait_for_room();
    CallQuery query{
        .name = tool->decl().name, .limit = params_.calls_max - running_, .wait = kWait};
    auto calls = co_await params_.api.pending_calls(std::move(query));
    if (!calls) {
      if (!is_worth_retrying(calls.error())) co_return give_up(calls.error());
      tell(calls.error());
      co_await params_.timers.sleep_until(params_.timers.now() + pause);
      pause = std::min(pause * 2, kPauseMax);
      continue;
    }
    pause = kPauseFirst;
    bool has_taken = calls->empty();
    for (OpenCall& call : *calls) {
      if (running_ >= params_.calls_max) break;
      const ToolUseId id = call.call.id;
      if (works_.contains(id)) continue;
      co_await take(std::move(call), tool);
      has_taken = has_taken || works_.contains(id);
    }
    // Other workers were faster: the next list shows the calls that are left.
    if (!has_taken) co_await params_.timers.sleep_until(params_.timers.now() + kPauseBeaten);
  }
}

// A call that another worker has claimed, or that is over, is left alone.
Task<void> Serving::take(OpenCall call, ToolPtr tool) {
  struct Place {
    Serving& serving;
    HeldCallPtr held;
    bool is_used = false;
    Place(Serving& of, HeldCallPtr call) : serving(of), held(std::move(call)) {
      ++serving.running_;
    }
    ~Place() {
      if (is_used) return;
      --serving.running_;
      serving.held_.give_back(held);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
  };
  const ToolUseId id = call.call.id;
  Place place(*this, std::make_shared<HeldCall>(HeldCall{.run = call.run, .id = id}));
  auto claim = co_await held_.claim(place.held, params_.claim);
  if (!claim) {
    if (is_lost(claim.error())) co_return;
    if (!is_worth_retrying(claim.error())) co_return give_up(claim.error());
    co_return tell(claim.error());
  }
  place.is_used = true;
  Call taken{.held = place.held,
             .tool = std::move(tool),
             .arguments = std::move(call.call.args),
             .deadline = deadline_of(call, *claim, params_.timers.now())};
  const TaskGroup::Ticket task = working_.spawn("worker.call", work(std::move(taken)));
  works_[id] = {.call = place.held, .task = task};
}

// ---- Answering them -----------------------------------------------------------------------------

// Work on a call ends when its claim is lost, or when the call is over.
Task<void> Serving::work(Call call) {
  struct End {
    Serving& serving;
    const HeldCallPtr call;
    const ToolPtr tool;
    End(Serving& of, HeldCallPtr held, ToolPtr with)
        : serving(of), call(std::move(held)), tool(std::move(with)) {}
    ~End() {
      serving.held_.release(call);
      serving.leave(call, *tool);
      serving.works_.erase(call->id);
      --serving.running_;
      for (Wakeup* bell : serving.waiting_) bell->notify();
    }
    End(const End&) = delete;
    End& operator=(const End&) = delete;
  };
  End end(*this, call.held, call.tool);
  held_.keep(call.held, params_.claim, [this, id = call.held->id] {
    if (auto work = works_.find(id); work != works_.end()) working_.cancel_one(work->second.task);
  });
  HeldCallPtr held = call.held;
  ToolOutcome outcome = co_await invoke(std::move(call));
  co_await post(std::move(held), std::move(outcome));
}

// Drops a call that was answered or lost.
void Serving::leave(const HeldCallPtr& call, const Tool& tool) {
  const ToolAnnotations& annotations = tool.decl().annotations;
  if (annotations.read_only || annotations.idempotent) return held_.give_back(call);
  held_.say_cut_off(call);
}

Task<ToolOutcome> Serving::invoke(Call call) {
  auto arguments = json::parse(call.arguments, {.duplicate_keys = json::DuplicateKeys::last_wins});
  if (!arguments || !arguments->is_object()) {
    co_return failed_outcome("the arguments must be an object");
  }
  ToolCall made{
      .run = call.held->run, .id = call.held->id, .arguments = std::move(arguments->get_object())};
  CallReporter reporter(held_, call.held);
  ToolContext context;
  context.progress = &reporter;
  context.deadline = call.deadline;
  co_return co_await call.tool->invoke(std::move(made), context);
}

// An answer that is refused is too late: the run has ended, or another worker has the call.
Task<void> Serving::post(HeldCallPtr call, ToolOutcome outcome) {
  auto posted = co_await held_.post(std::move(call), answer_of(std::move(outcome)));
  if (posted) ++answered_;
}

}  // namespace errand::sdk
