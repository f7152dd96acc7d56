#include "sdk/client/serving.hpp"

#include <algorithm>
#include <utility>

#include "json/parse.hpp"
#include "sdk/bridge/public_error.hpp"
#include "sdk/local_calls.hpp"

namespace errand::sdk {
namespace {

constexpr milliseconds kPauseBeaten{50};

// Another worker was faster, or the call is over.
bool is_lost(const Error& error) {
  return error.code() == ErrorCode::conflict || error.code() == ErrorCode::not_found;
}

}  // namespace

// Posts what a call reports while it runs.
class Serving::Reporter final : public ProgressSink {
 public:
  Reporter(Serving& serving, ToolUseId id) : serving_(serving), id_(id) {}
  void report(ProgressReport report) override { serving_.report(id_, std::move(report)); }

 private:
  Serving& serving_;
  const ToolUseId id_;
};

Serving::Serving(Params params)
    : params_(std::move(params)),
      polling_(params_.home, bugs_to(params_.tell)),
      extending_(params_.home, bugs_to(params_.tell)),
      working_(params_.home, bugs_to(params_.tell)) {}

void Serving::start() {
  for (const ToolPtr& tool : params_.tools) polling_.spawn("worker.poll", poll(tool));
}

Task<void> Serving::finish() {
  co_await polling_.stop(CancelReason::shutdown);
  co_await working_.join();
  co_await extending_.stop(CancelReason::shutdown);
}

Task<void> Serving::stop() {
  co_await polling_.stop(CancelReason::shutdown);
  co_await working_.stop(CancelReason::shutdown);
  co_await extending_.stop(CancelReason::shutdown);
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
    // Others were faster: the next list has what they have left.
    if (!has_taken) co_await params_.timers.sleep_until(params_.timers.now() + kPauseBeaten);
  }
}

// A call that another worker was faster to claim, or that is over, is left alone.
Task<void> Serving::take(OpenCall call, ToolPtr tool) {
  struct Place {
    Serving& serving;
    bool is_used = false;
    explicit Place(Serving& of) : serving(of) { ++serving.running_; }
    ~Place() {
      if (!is_used) --serving.running_;
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
  };
  Place place(*this);
  auto claim = co_await params_.api.claim(call.call.id, params_.claim);
  if (!claim && !is_lost(claim.error())) tell(claim.error());
  if (!claim) co_return;
  place.is_used = true;
  const ToolUseId id = call.call.id;
  Work& entry = works_[id];
  entry.task = working_.spawn("worker.call",
                              work({.open = std::move(call), .claim = *std::move(claim)}, tool));
}

// ---- Answering them -----------------------------------------------------------------------------

Task<void> Serving::work(Call call, ToolPtr tool) {
  struct End {
    Serving& serving;
    ToolUseId id;
    TaskGroup::Ticket extending;
    ~End() {
      serving.extending_.cancel_one(extending);
      serving.works_.erase(id);
      --serving.running_;
      for (Wakeup* bell : serving.waiting_) bell->notify();
    }
  };
  End end{*this, call.open.call.id, extending_.spawn("worker.extend", extend(call))};
  ToolOutcome outcome = co_await invoke(call, std::move(tool));
  co_await post(std::move(call), answer_of(std::move(outcome)));
}

Task<ToolOutcome> Serving::invoke(Call call, ToolPtr tool) {
  auto arguments =
      json::parse(call.open.call.args, {.duplicate_keys = json::DuplicateKeys::last_wins});
  if (!arguments || !arguments->is_object()) {
    co_return failed_outcome("the arguments must be an object");
  }
  ToolCall made{.run = call.open.run,
                .id = call.open.call.id,
                .arguments = std::move(arguments->get_object())};
  Reporter reporter(*this, made.id);
  ToolContext context;
  context.progress = &reporter;
  if (call.open.timeout) context.deadline = params_.timers.now() + *call.open.timeout;
  co_return co_await tool->invoke(std::move(made), context);
}

// A claim that is lost, or a call that is over, ends the work on it.
Task<void> Serving::extend(Call call) {
  const ToolUseId id = call.open.call.id;
  for (;;) {
    co_await params_.timers.sleep_until(params_.timers.now() + params_.claim / 3);
    auto extended = co_await params_.api.extend(id, call.claim, params_.claim);
    if (extended || is_worth_retrying(extended.error())) continue;
    if (auto work = works_.find(id); work != works_.end()) working_.cancel_one(work->second.task);
    co_return;
  }
}

// An answer that is refused comes too late: the run has ended, or another worker has the call.
Task<void> Serving::post(Call call, ToolAnswer answer) {
  milliseconds pause = kPauseFirst;
  for (int attempt = 0; attempt < LocalCalls::kAttemptsMax; ++attempt) {
    auto posted = co_await params_.api.answer(call.open.run, call.open.call.id, answer, call.claim);
    if (posted) ++answered_;
    if (!posted && !is_lost(posted.error())) tell(posted.error());
    if (posted || !is_worth_retrying(posted.error())) co_return;
    co_await params_.timers.sleep_until(params_.timers.now() + pause);
    pause = std::min(pause * 2, kPauseMax);
  }
}

void Serving::report(const ToolUseId& id, ProgressReport report) {
  Work& work = works_.at(id);
  work.report = std::move(report);
  if (!std::exchange(work.is_reporting, true)) {
    extending_.spawn("worker.progress", post_reports(id));
  }
}

Task<void> Serving::post_reports(ToolUseId id) {
  for (;;) {
    auto work = works_.find(id);
    if (work == works_.end()) co_return;
    auto report = std::exchange(work->second.report, {});
    work->second.is_reporting = report.has_value();
    if (!report) co_return;
    [[maybe_unused]] auto posted = co_await params_.api.report_progress(id, std::move(*report));
  }
}

}  // namespace errand::sdk
