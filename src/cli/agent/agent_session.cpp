#include "cli/agent/agent_session.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/agent/room_place.hpp"
#include "cli/show/follow.hpp"
#include "cli/show/terminal_elicitation.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"
#include "cli/terminal/typed_answer.hpp"
#include "sdk/internal/tell_stderr.hpp"
#include "sdk/internal/wait_for.hpp"

namespace errand::cli {
namespace {

using Consent = TerminalApprover::Consent;

// For the history file of a chat; tools have threads of their own.
constexpr std::size_t kBlockingThreads = 1;
constexpr std::size_t kBlockingQueueMax = 10;

Task<Result<void>> disconnect(sdk::CommandRunner* runner) {
  co_await runner->disconnect();
  co_return Result<void>();
}

// The user may want this process to outlive its terminal (nohup).
bool is_hangup_ignored() {
  struct sigaction now{};
  return ::sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

Result<int> reasoning_of(const std::string& text) {
  if (auto level = reasoning_level(text)) return *level;
  auto number = parse_integer<int>(text);
  if (number && *number >= 0 && *number <= kReasoningLevelMax) return *number;
  return Error(
      ErrorCode::invalid_argument,
      cat("--reasoning ", text, ": expected off, low, medium, high, or 0 to ", kReasoningLevelMax));
}

}  // namespace

void leave_now(int exit_code) {
  sdk::CommandRunner::kill_programs();
  std::_Exit(exit_code);
}

Result<Spec> make_agent_spec(const AgentOptions& options) {
  Spec spec{.model_id = options.model, .system_prompt = options.system, .tools = share_tools({})};
  spec.agent_id = options.agent;
  spec.budgets.max_tool_turns = options.max_turns;
  // A command whose client was killed may have taken effect, so the timeout is reported to the
  // model instead of failing the run.
  if (options.shell) spec.budgets.on_local_tool_timeout = OnTimeout::go_on;
  if (!options.room.empty()) {
    ERRAND_TRY(spec.room, room_place(options.room));
  }
  for (const std::string& toolkit : options.require_toolkits) {
    spec.required_toolkits.push_back({.toolkit = toolkit});
  }
  if (!options.reasoning.empty()) {
    ERRAND_TRY(spec.reasoning_level, reasoning_of(options.reasoning));
  }
  return spec;
}

AgentSession::AgentSession(const AgentOptions& options, std::unique_ptr<EventPrinter> printer)
    : options_(options),
      printer_(std::move(printer)),
      pool_(kBlockingThreads, kBlockingQueueMax),
      home_(io_),
      shown_calls_(home_.executor()),
      approver_(console_, *printer_, shown_calls_, kTerminal,
                options.yes ? Consent::given : Consent::asked_for),
      timers_(home_),
      signals_(io_),
      exit_code_(kExitFailed),
      tasks_(home_.executor(), [this](const char* task, const std::string& what) {
        sdk::report_bug(task, what);
        signals_.cancel();
      }) {}

Result<void> AgentSession::open() {
  ERRAND_CHECK(check_options(options_));
  if (is_embedded(options_)) {
    ERRAND_TRY(runner_, sdk::CommandRunner::here(io_, options_.server, options_.config));
  } else {
    runner_ = sdk::CommandRunner::at_server(io_, options_.server);
  }
  ERRAND_CHECK(
      runner_->lend({.files = options_.files,
                     .withheld = sdk::credentials_file(sdk::data_directory(options_.server)),
                     .shell = options_.shell,
                     .approver = &approver_,
                     .web_fetch = options_.web_fetch,
                     .allow_networks = options_.allow_networks,
                     .web_search = options_.web_search}));
  runner_->ask_user_with(
      std::make_shared<TerminalElicitation>(console_, *printer_, shown_calls_, kTerminal));
  ERRAND_CHECK(connect_servers());
  ERRAND_TRY(spec_, make_agent_spec(options_));
  return {};
}

AgentSession::~AgentSession() {
  if (!is_connected_) return;
  // The run never began, so the runner is still connected.
  io_.restart();
  auto stopped = sdk::wait_for(io_, disconnect(runner_.get()));
  ERRAND_ASSERT(stopped);
}

Result<void> AgentSession::connect_servers() {
  if (options_.mcp.empty() && options_.a2a.empty()) return {};
  is_connected_ = true;
  ERRAND_TRY(auto failures,
             sdk::run_until(io_, runner_->connect(options_.mcp, options_.a2a, options_.files)));
  io_.restart();
  for (const Error& failure : failures) {
    [[maybe_unused]] auto written = write_fully(STDERR_FILENO, describe_for_people(failure));
  }
  return {};
}

// The wait for signals is spawned before the work, which cancels that wait at its end.
int AgentSession::run(AgentWork& work) {
  if (runner_->is_here()) {
    log_.emplace(LogLines::Parts{.io = io_, .printer = *printer_, .console = console_});
  }
  auto opened = runner_->open(log_ ? log_->fd() : STDERR_FILENO);
  if (!opened) {
    return report_failure(*printer_, opened.error(), exit_code_of_place(opened.error()));
  }
  spec_.tools = runner_->lent();
  for (int signal : {SIGINT, SIGTERM}) signals_.add(signal);
  if (!is_hangup_ignored()) signals_.add(SIGHUP);
  tasks_.spawn("signals", watch_signals(&work));
  tasks_.spawn("work", live(&work));
  io_.run();
  return exit_code_;
}

int AgentSession::exit_code_of_place(const Error& error) const {
  if (!runner_->is_here()) return setup_exit_code(error);
  return error.code() == ErrorCode::invalid_argument ? kExitUsage : exit_code_of(error);
}

Task<void> AgentSession::live(AgentWork* work) {
  if (log_) log_->start([work] { work->on_log_shown(); });
  exit_code_ = co_await work->work();
  leave_after(kCleanUpMax, exit_code_);
  is_over_ = true;
  co_await work->clean_up();
  co_await runner_->stop(pool_);
  is_connected_ = false;
  if (log_) log_->close();
  last_resort_.reset();
  is_cleaned_up_ = true;
  signals_.cancel();
}

// A signal that came just before the end of the work is no longer pending when the wait is
// cancelled. Another wait after that would keep the loop running for ever, so is_cleaned_up_ is
// checked.
Task<void> AgentSession::watch_signals(AgentWork* work) {
  while (!is_cleaned_up_) {
    auto [error, signal] = co_await signals_.async_wait(as_result);
    if (error) break;
    // The clean-up may take a moment, and Ctrl-C ends it.
    bool asks_to_leave = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
    if (is_over_ && asks_to_leave) leave_now(kExitInterrupted);
    if (!is_over_) work->on_signal(signal);
  }
  // What still runs would be killed with the loop, which a signal could prevent from here on.
  sdk::CommandRunner::kill_programs();
  signals_.clear();
}

void AgentSession::leave_after(seconds patience, int exit_code) {
  last_resort_.emplace(timers_, timers_.now() + patience, [exit_code] { leave_now(exit_code); });
}

}  // namespace errand::cli
