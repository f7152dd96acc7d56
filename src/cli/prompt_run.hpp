#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <optional>
#include <string>

#include "async/home.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "cli/api_client.hpp"
#include "cli/console.hpp"
#include "cli/event_printer.hpp"
#include "cli/follow.hpp"
#include "cli/host.hpp"
#include "cli/local_calls.hpp"
#include "cli/run_stream.hpp"

namespace errand::cli {

// One `errand run`: a run from its creation to its end, cancelled by a signal. Lives on the home of
// `io`; `io` has nothing left to do when it is over.
class PromptRun final {
 public:
  // Outlive the run.
  struct Parts {
    asio::io_context& io;
    ApiClient& api;
    ToolRegistry& tools;
    EventPrinter& printer;
    Console& console;
    Host* host = nullptr;  // what drives the run, if that is this process
  };

  // `body` asks for the run.
  PromptRun(Parts parts, std::string body);

  void start();
  int exit_code() const { return exit_code_; }

 private:
  Task<void> run();
  Task<Result<RunEnd>> create_and_follow();
  Task<void> sum_up(RunEnd end);
  Task<void> clean_up();
  Task<void> watch_signals();
  Task<void> cancel();

  const Parts parts_;
  const std::string body_;
  Home home_;
  AsioTimers timers_;
  const SteadyTime started_;
  asio::signal_set signals_;
  std::string run_;  // empty until it is created
  bool is_interrupted_ = false;
  int exit_code_;
  std::optional<TimerGuard> last_resort_;
  std::optional<RunStream> stream_;
  LocalCalls calls_;
  TaskGroup cancelling_;
  TaskGroup tasks_;  // last: tasks use everything above
};

}  // namespace errand::cli
