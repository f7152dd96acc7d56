#include "sdk/held_calls.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "crypto/random.hpp"
#include "run/content.hpp"

namespace errand::sdk {

ToolAnswer answer_of(ToolOutcome outcome) {
  FlatContent flat = flatten(std::move(outcome.content));
  if (outcome.ok()) return {.text = std::move(flat.text), .files = std::move(flat.files)};
  return {.ok = false,
          .text = without_middle(flat.text, kErrorBytesMax),
          .is_fatal = outcome.kind == ToolOutcome::Kind::fatal};
}

HeldCalls::HeldCalls(RunApi& api, Timers& timers, Executor home, const Teller& tell,
                     OnFailure on_failure)
    : api_(api),
      timers_(timers),
      home_(home),
      on_failure_(std::move(on_failure)),
      claim_key_(crypto::random_hex(16)),
      beside_(home, bugs_to(tell)),
      lasting_(home, bugs_to(tell)) {}

// ---- Claims -------------------------------------------------------------------------------------

Task<Result<Claim>> HeldCalls::claim(HeldCallPtr call, milliseconds ttl) {
  lasting_.spawn("call.claim", ask(call, ttl));
  WakeupAt bell(home_, call->waiting);
  while (!call->asked) co_await bell.wait();
  auto asked = *std::exchange(call->asked, {});
  co_return asked;
}

Task<void> HeldCalls::ask(HeldCallPtr call, milliseconds ttl) {
  auto claim = co_await api_.claim(call->id, ttl, claim_key_);
  if (claim) call->claim = claim->id;
  if (call->waiting) {
    call->asked = std::move(claim);
    call->waiting->notify();
  } else if (claim) {
    co_await end_claim(call);
  }
}

void HeldCalls::give_back(const HeldCallPtr& call) {
  if (!call->claim.empty() && !call->is_answered) lasting_.spawn("call.leave", end_claim(call));
}

Task<void> HeldCalls::end_claim(HeldCallPtr call) {
  std::string claim = std::exchange(call->claim, {});
  [[maybe_unused]] auto over = co_await api_.extend(call->id, std::move(claim), milliseconds(1));
}

void HeldCalls::keep(const HeldCallPtr& call, milliseconds ttl, std::function<void()> lost) {
  call->keeping = beside_.spawn("call.extend", extend(call, ttl, std::move(lost)));
}

void HeldCalls::release(const HeldCallPtr& call) {
  if (auto keeping = std::exchange(call->keeping, {})) beside_.cancel_one(*keeping);
}

Task<void> HeldCalls::extend(HeldCallPtr call, milliseconds ttl, std::function<void()> lost) {
  struct Counted {
    std::size_t& kept;
    explicit Counted(std::size_t& all) : kept(all) { ++kept; }
    ~Counted() { --kept; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
  };
  Counted counted(kept_);
  for (;;) {
    const milliseconds pause =
        std::min(ttl / 3, std::max(kNoticeMax, kExtendGap * static_cast<int>(kept_)));
    co_await timers_.sleep_until(timers_.now() + pause);
    auto extended = co_await api_.extend(call->id, call->claim, ttl);
    if (extended || is_worth_retrying(extended.error())) continue;
    call->claim.clear();
    call->keeping.reset();
    co_return lost();
  }
}

// ---- Reports ------------------------------------------------------------------------------------

void HeldCalls::report(const HeldCallPtr& call, ProgressReport report) {
  call->report = std::move(report);
  if (!std::exchange(call->is_reporting, true)) {
    beside_.spawn("call.progress", post_reports(call));
  }
}

Task<void> HeldCalls::post_reports(HeldCallPtr call) {
  while (auto report = std::exchange(call->report, {})) {
    if (call->is_answered) co_return;
    [[maybe_unused]] auto posted = co_await api_.report_progress(call->id, std::move(*report));
  }
  call->is_reporting = false;
}

// ---- Answers ------------------------------------------------------------------------------------

Task<Result<void>> HeldCalls::post(HeldCallPtr call, ToolAnswer answer) {
  call->is_answered = true;
  lasting_.spawn("call.answer", post_answer(call, std::move(answer)));
  WakeupAt bell(home_, call->waiting);
  while (!call->posted) co_await bell.wait();
  co_return *call->posted;
}

Task<void> HeldCalls::post_answer(HeldCallPtr call, ToolAnswer answer) {
  auto posted = co_await this->answer(call, std::move(answer));
  call->posted = std::move(posted);
  if (call->waiting) call->waiting->notify();
}

Task<Result<void>> HeldCalls::answer(HeldCallPtr call, ToolAnswer answer) {
  milliseconds pause = kPauseFirst;
  for (int attempt = 1;; ++attempt) {
    auto posted = co_await api_.answer(call->run, call->id, answer, call->claim);
    if (posted) co_return posted;
    if (on_failure_ && !is_lost(posted.error())) on_failure_(posted.error());
    bool is_last = attempt == kAttemptsMax || is_stopping_;
    if (is_last || !is_worth_retrying(posted.error())) co_return posted;
    co_await timers_.sleep_until(timers_.now() + pause);
    pause = std::min(pause * 2, kPauseMax);
  }
}

void HeldCalls::say_cut_off(const HeldCallPtr& call) {
  if (call->claim.empty() || call->is_answered) return;
  call->is_answered = true;
  lasting_.spawn("call.answer",
                 post_answer(call, answer_of(failed_outcome(
                                       "The client was closed while this call ran. The call may or "
                                       "may not have taken effect."))));
}

Task<void> HeldCalls::stop() {
  is_stopping_ = true;
  co_await beside_.stop(CancelReason::shutdown);
  TimerGuard bound(timers_, timers_.now() + kLeaveMax,
                   [this] { lasting_.cancel(CancelReason::shutdown); });
  co_await lasting_.join();
}

}  // namespace errand::sdk
