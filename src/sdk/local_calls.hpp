#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "sdk/api_client.hpp"
#include "sdk/run_event.hpp"
#include "tool/dispatch_order.hpp"
#include "tool/tool.hpp"

namespace errand::sdk {

// Answers the calls that a run has for this process, each once, beside the stream. An answer is
// posted until the API has it. Calls run at the same time, save those of tools that are not
// parallel-safe. Lives on one home; must be stopped before it is destroyed.
class LocalCalls final {
 public:
  static constexpr milliseconds kPauseFirst{500};  // between attempts to post
  static constexpr milliseconds kPauseMax{5000};
  static constexpr int kAttemptsMax = 100;

  LocalCalls(ApiClient& api, Timers& timers, Executor home, ToolRegistry& tools);

  // Starts to work on the call of this event, unless that has begun before.
  void start(const std::string& run, const RunEvent& call);

  // How long a call ran; nothing while it does.
  std::optional<milliseconds> took(std::string_view tool_use) const;

  // Cuts off what runs and starts nothing more: the user has stopped the run.
  void cut_off();
  // Answers every call that has no answer yet with that.
  void give_up();

  Task<void> stop();

 private:
  struct Call {
    std::string run;
    std::size_t index = 0;                  // in the order they came
    std::optional<milliseconds> took = {};  // once it has an outcome
  };
  struct Waiting {
    std::string tool_use;
    std::string name;
    json::Value arguments;
  };

  void start_what_may();
  Task<void> work(Waiting call);
  Task<ToolOutcome> invoke(Waiting call, std::string run);
  void settle(const std::string& tool_use, milliseconds took, const ToolOutcome& outcome);
  Task<void> post(std::string run, std::string body);

  ApiClient& api_;
  Timers& timers_;
  ToolRegistry& tools_;
  std::map<std::string, Call, std::less<>> calls_;  // by toolUseId
  std::deque<Waiting> waiting_;                     // those that may not start yet
  DispatchOrder order_;
  TaskGroup posting_;
  TaskGroup working_;  // last: tasks use everything above
};

// A bug in a task of a command fails the command with a message, not the process.
void report_bug(const char* task, const std::string& what);

}  // namespace errand::sdk
