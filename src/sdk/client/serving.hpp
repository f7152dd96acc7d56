#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <errand/error.hpp>

#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "async/wakeup.hpp"
#include "sdk/held_calls.hpp"
#include "sdk/run_api.hpp"
#include "sdk/teller.hpp"
#include "tool/tool_source.hpp"

namespace errand::sdk {

// A worker: claims calls that wait for a client, and answers them. For each tool one request waits
// for calls. A server that refuses the requests ends the work; one that does not answer is asked
// again. Lives on one home, save for answered() and error(); must be stopped before it is
// destroyed.
class Serving final {
 public:
  static constexpr seconds kWait{20};              // of one request for calls
  static constexpr milliseconds kPauseFirst{250};  // before a failed request is repeated
  static constexpr milliseconds kPauseMax{4000};
  static constexpr milliseconds kClaimMin{100};
  static constexpr milliseconds kClaimMax{86'400'000};  // of servers

  struct Params {
    RunApi& api;
    Timers& timers;
    Executor home;
    Teller tell;
    std::vector<ToolPtr> tools;
    std::size_t calls_max = 8;
    milliseconds claim{30'000};
    std::function<void(const v1::Error&)> on_error = {};
  };
  explicit Serving(Params params);

  void start();
  // Takes no more calls, and returns when the running ones are answered.
  Task<void> finish();
  // Cuts everything off. Calls that may be made again are given back; the others are answered, so
  // that no other worker makes them a second time.
  Task<void> stop();

  std::size_t answered() const { return answered_; }
  // Why no more calls are taken.
  std::optional<v1::Error> error() const;

 private:
  struct Call {
    HeldCallPtr held;
    ToolPtr tool;
    std::string arguments;  // JSON text
    SteadyTime deadline = SteadyTime::max();
  };

  Task<void> poll(ToolPtr tool);
  Task<void> wait_for_room();
  Task<void> take(OpenCall call, ToolPtr tool);
  Task<void> work(Call call);
  Task<ToolOutcome> invoke(Call call);
  Task<void> post(HeldCallPtr call, ToolOutcome outcome);
  void leave(const HeldCallPtr& call, const Tool& tool);
  void tell(const Error& error) const;
  // The server takes no more requests from here.
  void give_up(const Error& error);

  const Params params_;
  std::atomic<std::size_t> answered_ = 0;
  mutable std::mutex mutex_;
  std::optional<v1::Error> error_;
  std::size_t running_ = 0;    // includes calls that are being claimed
  std::set<Wakeup*> waiting_;  // polls that wait until a call has ended
  struct Work {
    HeldCallPtr call;
    TaskGroup::Ticket task = 0;
  };
  std::map<ToolUseId, Work> works_;
  HeldCalls held_;
  TaskGroup polling_;
  TaskGroup working_;  // last: tasks use everything above
};

}  // namespace errand::sdk
