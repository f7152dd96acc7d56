#pragma once

#include <optional>
#include <string>

#include "async/home.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "cli/show/event_printer.hpp"
#include "cli/show/follow.hpp"
#include "cli/terminal/console.hpp"
#include "sdk/api_client.hpp"
#include "sdk/local_calls.hpp"
#include "sdk/run_stream.hpp"

namespace errand::cli {

// A run that this process has asked for: shown until it ends, its calls answered here. Lives on one
// home; must be cleaned up before it is destroyed.
class OwnRun final {
 public:
  static constexpr seconds kCancelGrace{3};

  // Outlive the run.
  struct Parts {
    sdk::ApiClient& api;
    Timers& timers;
    ToolRegistry& tools;
    EventPrinter& printer;
    Console& console;
  };

  OwnRun(Parts parts, Executor home);

  // Makes the run by this request and shows it until it ends. Called once, as is rejoin.
  Task<Result<sdk::RunEnd>> ask(sdk::ApiRequest request);
  // The same for a run that is there already, from its beginning; `run` is what the API says of it.
  // Calls that have their answers are not made again.
  Task<Result<sdk::RunEnd>> rejoin(json::Value run);
  // Shows what the run took.
  Task<void> sum_up(sdk::RunEnd end);

  // Ends the work on calls and cancels the run, which then ends soon.
  void interrupt();
  bool is_interrupted() const { return is_interrupted_; }

  const std::string& id() const { return run_; }  // empty until it is created

  Task<void> clean_up();

 private:
  Task<Result<sdk::RunEnd>> follow_from(EventSeq calls_after);
  Task<void> cancel();

  const Parts parts_;
  const SteadyTime started_;
  std::string run_;
  bool is_interrupted_ = false;
  std::optional<sdk::RunStream> stream_;
  sdk::LocalCalls calls_;
  TaskGroup cancelling_;  // last: tasks use everything above
};

// An error of a server that cannot be reached, with the advice to do without it.
Error with_way_out(const Error& error);

}  // namespace errand::cli
