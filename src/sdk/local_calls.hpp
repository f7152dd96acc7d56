#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "async/wakeup.hpp"
#include "sdk/run_api.hpp"
#include "sdk/teller.hpp"
#include "tool/dispatch_order.hpp"
#include "tool/tool_source.hpp"

namespace errand::sdk {

// Answers the calls that a run has for this process, each once, beside the stream. An answer is
// posted until the API has it. Calls run at the same time, save those of tools that are not
// parallel-safe. Of the reports of a call that come faster than they are posted, the last counts.
// A call with effects is claimed before it is made: another client of the run, and whoever resumes
// the run after this process was killed, leave it alone. A call that others have claimed is looked
// at again until it has a result: it is made here if they give it back. Lives on one home; must be
// stopped before it is destroyed.
class LocalCalls final {
 public:
  static constexpr milliseconds kPauseFirst{500};  // between attempts to post
  static constexpr milliseconds kPauseMax{5000};
  static constexpr int kAttemptsMax = 100;
  static constexpr milliseconds kLookAgain{5000};  // whether a claim of others has run out
  static constexpr milliseconds kLeaveMax{5000};   // how long stop() takes to give claims back
  // Longer than any call; a claim ends with its call.
  static constexpr milliseconds kClaimTime{86'400'000};

  // `timeout` is that of calls whose tool has none, if it is known. Tools are told by when they
  // have to be done.
  LocalCalls(RunApi& api, Timers& timers, Executor home, const FixedTools& tools, Teller tell,
             std::optional<milliseconds> timeout = {});

  // Starts to work on the call, unless that has begun before.
  void start(const RunId& run, const LocalToolCall& call);

  // The call has a result that is not from here: its time was over, or another client answered. The
  // work on it is cut off.
  void settled_elsewhere(const ToolUseId& call);

  // How long a call ran; nothing while it does.
  std::optional<milliseconds> took(const ToolUseId& call) const;

  // Cuts off what runs and starts nothing more: the user has stopped the run.
  void cut_off();
  // Answers every call that has no answer yet with that.
  void give_up();

  // Gives back the claims of calls that have not begun, so that others may make them, and answers
  // claimed calls that are cut off: they are not to be made twice. Takes up to kLeaveMax.
  Task<void> stop();

 private:
  struct Call {
    RunId run;
    std::size_t index = 0;                       // in the order they came
    std::optional<SteadyTime> started = {};      // once the work on it has begun
    std::optional<milliseconds> took = {};       // once it has an outcome
    std::optional<TaskGroup::Ticket> task = {};  // of the work on it, once that has begun
    std::optional<ProgressReport> report = {};   // waits until the one before is posted
    bool is_reporting = false;
    std::string claim = {};                         // of this process; empty: it has made none
    std::optional<Result<std::string>> asked = {};  // what a request for a claim has brought
    Wakeup* claimed = nullptr;                      // rung then, while anybody waits
    bool is_left = false;                           // told that others have it
  };
  class Reporter;
  struct Waiting {
    ToolUseId id;
    std::string name;
    std::string arguments;  // JSON text
  };

  void start_what_may();
  milliseconds time_of(const Call& call) const;
  Task<void> work(Waiting call);
  // Claims a call, if its tool has effects. False: another client has the call.
  Task<bool> take(ToolUseId id, std::string name);
  Task<void> ask_for_claim(ToolUseId id);
  Task<void> give_back(ToolUseId id);
  Task<void> say_cut_off(ToolUseId id);
  // Another client has the call now: calls behind it need not wait.
  void leave_to_others(const ToolUseId& id);
  void drop(const ToolUseId& id);
  Task<ToolOutcome> invoke(Waiting call, RunId run);
  void settle(const ToolUseId& id, milliseconds took, ToolOutcome outcome);
  void report(const ToolUseId& id, ProgressReport report);
  Task<void> post_reports(ToolUseId id);
  Task<void> post(RunId run, ToolUseId id, ToolAnswer answer);

  RunApi& api_;
  Timers& timers_;
  const FixedTools& tools_;
  const Teller tell_;
  const std::optional<milliseconds> timeout_;
  std::map<ToolUseId, Call> calls_;
  std::deque<Waiting> waiting_;  // those that may not start yet
  DispatchOrder order_;
  const Executor home_;
  TaskGroup claiming_;  // requests that are not cut off with the call
  TaskGroup posting_;
  TaskGroup working_;  // last: tasks use everything above
};

// What a client answers when a call has this outcome.
ToolAnswer answer_of(ToolOutcome outcome);

}  // namespace errand::sdk
