#pragma once

#include <boost/asio/signal_set.hpp>
#include <optional>
#include <string>

#include "async/home.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "cli/agent/agent_api.hpp"
#include "cli/agent/own_run.hpp"
#include "cli/show/event_printer.hpp"
#include "cli/terminal/console.hpp"

namespace errand::cli {

// One `errand run`: a run from its creation to its end, cancelled by a signal. Lives on the home of
// the API; that has nothing left to do when it is over.
class PromptRun final {
 public:
  // Outlive the run.
  struct Parts {
    AgentApi place;
    ToolRegistry& tools;
    EventPrinter& printer;
    Console& console;
  };

  // `body` asks for the run.
  PromptRun(Parts parts, std::string body);

  void start();
  int exit_code() const { return exit_code_; }

 private:
  Task<void> run();
  Task<void> clean_up();
  Task<void> watch_signals();

  const AgentApi place_;
  const std::string body_;
  Home home_;
  AsioTimers timers_;
  asio::signal_set signals_;
  int exit_code_;
  std::optional<TimerGuard> last_resort_;
  OwnRun run_;
  TaskGroup tasks_;  // last: tasks use everything above
};

}  // namespace errand::cli
