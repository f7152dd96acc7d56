#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <memory>
#include <optional>

#include "async/blocking_pool.hpp"
#include "async/home.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "cli/agent/agent_options.hpp"
#include "cli/show/event_printer.hpp"
#include "cli/show/log_lines.hpp"
#include "cli/show/terminal_approver.hpp"
#include "cli/terminal/console.hpp"
#include "run/spec.hpp"
#include "sdk/internal/command_runner.hpp"

namespace errand::cli {

// Leaves although threads may hang in a call to the system (a dead network disk, a stopped pager).
// Commands that still run are killed.
[[noreturn]] void leave_now(int exit_code);

// What a command does in its session.
class AgentWork {
 public:
  virtual ~AgentWork() = default;

  // All of it; gives the exit code.
  virtual Task<int> work() = 0;
  // What is left to do when the exit code is known; cut off after AgentSession::kCleanUpMax.
  virtual Task<void> clean_up() = 0;
  virtual void on_signal(int signal) = 0;
  // Lines of the log were shown.
  virtual void on_log_shown() {}
};

// One command that drives agents for this terminal: where it prints, the tools that it lends, the
// runs of a server or of a host of its own, and signals. Made of flags step by step, each step once
// and in this order: open(), then run().
class AgentSession final {
 public:
  static constexpr seconds kCleanUpMax{1};

  // `options` outlives the session.
  AgentSession(const AgentOptions& options, std::unique_ptr<EventPrinter> printer);
  ~AgentSession();
  AgentSession(const AgentSession&) = delete;
  AgentSession& operator=(const AgentSession&) = delete;

  // Reads the configuration of an agent without a server, connects to the servers of tools, and
  // makes the tools and the spec. Blocks. invalid_argument: with the flag; other errors are those
  // of servers.
  Result<void> open();
  // Works with the runs that the flags mean until the work is done; gives the exit code. With a
  // server that is named or known they are the server's. Otherwise the engine runs in this process,
  // on the data directory if one is named, or on a store that ends with it.
  int run(AgentWork& work);

  // What every run of this agent is asked for with; its tools are there while it runs. After
  // open().
  const Spec& spec() const { return spec_; }
  const std::vector<ToolPtr>& tools() const { return runner_->tools(); }
  ShownCalls& shown_calls() { return shown_calls_; }
  EventPrinter& printer() { return *printer_; }
  Console& console() { return console_; }
  BlockingPool& pool() { return pool_; }

  // While it runs.
  sdk::CommandRunner& runner() { return *runner_; }
  sdk::RunApi& api() { return runner_->api(); }
  Timers& timers() { return timers_; }
  Executor home() const { return home_.executor(); }
  void watch_signal(int signal) { signals_.add(signal); }
  // Leaves with this code unless the session has ended by then.
  void leave_after(seconds patience, int exit_code);

 private:
  int exit_code_of_place(const Error& error) const;
  Task<void> live(AgentWork* work);
  Result<void> connect_servers();
  Task<void> watch_signals(AgentWork* work);

  const AgentOptions& options_;
  asio::io_context io_{1};  // outlives the tools, which keep connections for the next request
  const std::unique_ptr<EventPrinter> printer_;
  Console console_;
  BlockingPool pool_;
  std::optional<LogLines> log_;  // of a host in this process
  bool is_connected_ = false;    // to servers of tools
  Spec spec_;
  Home home_;
  ShownCalls shown_calls_;
  TerminalApprover approver_;
  AsioTimers timers_;
  std::unique_ptr<sdk::CommandRunner> runner_;  // from open() on
  asio::signal_set signals_;
  int exit_code_;
  bool is_over_ = false;        // the work has its exit code: another signal leaves at once
  bool is_cleaned_up_ = false;  // signals are no longer waited for
  std::optional<TimerGuard> last_resort_;
  TaskGroup tasks_;  // last: tasks use everything above
};

// What the flags ask for of an agent, without its tools. invalid_argument: with the flag.
Result<Spec> make_agent_spec(const AgentOptions& options);

}  // namespace errand::cli
