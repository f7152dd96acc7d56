#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "async/wakeup.hpp"
#include "sdk/run_api.hpp"
#include "sdk/teller.hpp"
#include "tool/tool.hpp"

namespace errand::sdk {

// A call of a run that this process works on, or wants to.
struct HeldCall {
  RunId run;
  ToolUseId id;
  std::string claim = {};  // empty: this process holds none

  // Of HeldCalls alone.
  std::optional<Result<Claim>> asked = {};    // what a request for a claim has brought
  std::optional<Result<void>> posted = {};    // what came of the answer
  bool is_answered = false;                   // posted, or on its way
  Wakeup* waiting = nullptr;                  // woken by either, while something waits
  std::optional<ProgressReport> report = {};  // waits until the one before is posted
  bool is_reporting = false;
  std::optional<TaskGroup::Ticket> keeping = {};  // of the task that extends the claim
};
using HeldCallPtr = std::shared_ptr<HeldCall>;

// Another client has the call, or it is over.
inline bool is_lost(const Error& error) {
  return error.code() == ErrorCode::conflict || error.code() == ErrorCode::not_found;
}

// Claims, reports and answers of the calls that this process works on, whether the client of a run
// (LocalCalls) or a worker (Serving) finds them and decides when they run. Work that is cut off
// leaves no unknown claim and no half-posted answer behind. Lives on one home; must be stopped
// before it is destroyed.
class HeldCalls final {
 public:
  static constexpr milliseconds kPauseFirst{250};  // between attempts
  static constexpr milliseconds kPauseMax{5000};
  static constexpr int kAttemptsMax = 100;
  static constexpr milliseconds kLeaveMax{5000};  // how long stop() takes
  // How late a call is noticed that is over or lost: claims are extended that often, as long as
  // that makes no more than one request every kExtendGap.
  static constexpr milliseconds kNoticeMax{1000};
  static constexpr milliseconds kExtendGap{125};

  // Told of every attempt that fails, save of calls that are lost.
  using OnFailure = std::function<void(const Error&)>;
  HeldCalls(RunApi& api, Timers& timers, Executor home, const Teller& tell,
            OnFailure on_failure = {});

  // Asks for a claim, once. A task that is cut off while it waits does not end the request: the
  // claim that comes of it is given back.
  Task<Result<Claim>> claim(HeldCallPtr call, milliseconds ttl);
  // Extends the claim until release(). `lost` is called, once, when the call is over or another
  // client has it.
  void keep(const HeldCallPtr& call, milliseconds ttl, std::function<void()> lost);
  void release(const HeldCallPtr& call);

  // If reports come faster than they can be posted, only the last one is posted. A report that
  // cannot be posted is dropped.
  void report(const HeldCallPtr& call, ProgressReport report);

  // Posts the answer until the API has it or refuses it, also if the task that waits is cut off.
  Task<Result<void>> post(HeldCallPtr call, ToolAnswer answer);

  // Lets others make the call. Nothing happens without a claim or after an answer.
  void give_back(const HeldCallPtr& call);
  // Answers that the call may or may not have taken effect. The same.
  void say_cut_off(const HeldCallPtr& call);

  // Ends what is under way: attempts are not repeated any more. Takes up to kLeaveMax.
  Task<void> stop();

 private:
  Task<void> ask(HeldCallPtr call, milliseconds ttl);
  Task<void> end_claim(HeldCallPtr call);
  Task<void> extend(HeldCallPtr call, milliseconds ttl, std::function<void()> lost);
  Task<void> post_answer(HeldCallPtr call, ToolAnswer answer);
  Task<Result<void>> answer(HeldCallPtr call, ToolAnswer answer);
  Task<void> post_reports(HeldCallPtr call);

  RunApi& api_;
  Timers& timers_;
  const Executor home_;
  const OnFailure on_failure_;
  const std::string claim_key_;  // a claim is asked for again by it, if its answer was lost
  std::size_t kept_ = 0;         // claims that are extended
  bool is_stopping_ = false;
  TaskGroup beside_;   // reports and extensions, which nothing waits for
  TaskGroup lasting_;  // requests that outlive the work on their call; last, as tasks use the rest
};

// Posts what a call reports while it runs.
class CallReporter final : public ProgressSink {
 public:
  CallReporter(HeldCalls& calls, HeldCallPtr call) : calls_(calls), call_(std::move(call)) {}
  void report(ProgressReport report) override { calls_.report(call_, std::move(report)); }

 private:
  HeldCalls& calls_;
  const HeldCallPtr call_;
};

// What a client answers when a call has this outcome.
ToolAnswer answer_of(ToolOutcome outcome);

}  // namespace errand::sdk
