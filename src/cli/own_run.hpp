#pragma once

#include <optional>
#include <string>

#include "async/home.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "cli/api_client.hpp"
#include "cli/console.hpp"
#include "cli/event_printer.hpp"
#include "cli/follow.hpp"
#include "cli/local_calls.hpp"
#include "cli/run_stream.hpp"

namespace errand::cli {

// A run that this process has asked for: shown until it ends, its calls answered here. Lives on one
// home; must be cleaned up before it is destroyed.
class OwnRun final {
 public:
  static constexpr seconds kCancelGrace{3};

  // Outlive the run.
  struct Parts {
    ApiClient& api;
    Timers& timers;
    ToolRegistry& tools;
    EventPrinter& printer;
    Console& console;
  };

  OwnRun(Parts parts, Executor home);

  // Makes the run by this request and shows it until it ends. Called once, as is rejoin.
  Task<Result<RunEnd>> ask(ApiRequest request);
  // The same for a run that is there already, from its beginning; `run` is what the API says of it.
  // Calls that have their answers are not made again.
  Task<Result<RunEnd>> rejoin(json::Value run);
  // Shows what the run took.
  Task<void> sum_up(RunEnd end);

  // Ends the work on calls and cancels the run, which then ends soon.
  void interrupt();
  bool is_interrupted() const { return is_interrupted_; }

  const std::string& id() const { return run_; }  // empty until it is created

  Task<void> clean_up();

 private:
  Task<Result<RunEnd>> follow_from(EventSeq calls_after);
  Task<void> cancel();

  const Parts parts_;
  const SteadyTime started_;
  std::string run_;
  bool is_interrupted_ = false;
  std::optional<RunStream> stream_;
  LocalCalls calls_;
  TaskGroup cancelling_;  // last: tasks use everything above
};

// An error of a server that cannot be reached, with the advice to do without it.
Error with_way_out(const Error& error);

}  // namespace errand::cli
