#pragma once

#include <map>
#include <optional>
#include <string>

#include "async/blocking_pool.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "cli/api_client.hpp"
#include "cli/files_tool.hpp"
#include "cli/run_event.hpp"

namespace errand::cli {

// Answers the calls that a run has for this process, each once, beside the stream. An answer is
// posted until the server has it. Lives on one home; must be stopped before it is destroyed.
class LocalCalls final {
 public:
  static constexpr milliseconds kPauseFirst{500};  // between attempts to post
  static constexpr milliseconds kPauseMax{5000};
  static constexpr int kAttemptsMax = 100;

  LocalCalls(ApiClient& api, Timers& timers, Executor home, FilesTool tool);

  // Starts to work on the call of this event, unless that has begun before.
  void start(const std::string& run, const RunEvent& call);

  // How long a call ran; nothing while it does.
  std::optional<milliseconds> took(std::string_view tool_use) const;

  Task<void> stop() { return tasks_.stop(CancelReason::shutdown); }

 private:
  static constexpr std::size_t kThreads = 4;
  static constexpr std::size_t kQueueMax = 1000;

  Task<void> work(std::string run, std::string tool_use, std::string name, json::Value args);
  Task<void> post(std::string run, std::string body);

  ApiClient& api_;
  Timers& timers_;
  const FilesTool tool_;
  std::map<std::string, std::optional<milliseconds>, std::less<>> calls_;  // by toolUseId
  BlockingPool pool_;
  TaskGroup tasks_;  // last: tasks use everything above
};

// A bug in a task of a command fails the command with a message, not the process.
void report_bug(const char* task, const std::string& what);

}  // namespace errand::cli
