#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "sdk/held_calls.hpp"
#include "sdk/run_api.hpp"
#include "sdk/teller.hpp"
#include "tool/dispatch_order.hpp"
#include "tool/tool_source.hpp"

namespace errand::sdk {

// Answers the calls that a run has for this process, each once, beside the stream. Calls run at the
// same time, save those of tools that are not parallel-safe.
// A call with effects is claimed before it is made: another client of the run, and whoever resumes
// the run after this process was killed, leave it alone. A call that others have claimed is looked
// at again until it has a result: it is made here if they give it back. Lives on one home; must be
// stopped before it is destroyed.
class LocalCalls final {
 public:
  static constexpr milliseconds kLookAgain{5000};  // whether another client's claim has expired
  // Longer than any call; a claim ends with its call.
  static constexpr milliseconds kClaimTime{86'400'000};

  // `timeout` is that of calls whose tool has none, if it is known. Tools learn their deadline.
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
  // claimed calls that are cut off: they are not to be made twice. Takes up to
  // HeldCalls::kLeaveMax.
  Task<void> stop();

 private:
  struct Call {
    HeldCallPtr held;
    std::size_t index = 0;                       // in the order they came
    std::optional<SteadyTime> started = {};      // once the work on it has begun
    std::optional<milliseconds> took = {};       // once it has an outcome
    std::optional<TaskGroup::Ticket> task = {};  // of the work on it, once that has begun
    bool is_left = false;                        // reported as another client's
  };
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
  // Another client has the call now: calls behind it need not wait.
  void leave_to_others(const ToolUseId& id);
  void drop(const ToolUseId& id);
  Task<ToolOutcome> invoke(Waiting call, HeldCallPtr held);
  void settle(const ToolUseId& id, milliseconds took, ToolOutcome outcome);
  Task<void> post(HeldCallPtr call, ToolAnswer answer);

  Timers& timers_;
  const FixedTools& tools_;
  const Teller tell_;
  const std::optional<milliseconds> timeout_;
  std::map<ToolUseId, Call> calls_;
  std::deque<Waiting> waiting_;  // calls that may not start yet
  DispatchOrder order_;
  HeldCalls held_;
  TaskGroup posting_;
  TaskGroup working_;  // last: tasks use everything above
};

}  // namespace errand::sdk
