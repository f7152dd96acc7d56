#include "cli/agent/agent_session.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/agent/agent_tools.hpp"
#include "cli/agent/room_place.hpp"
#include "cli/show/follow.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"
#include "sdk/internal/tell_stderr.hpp"
#include "sdk/internal/wait_for.hpp"
#include "sdk/toolbox.hpp"

namespace errand::cli {
namespace {

using Consent = TerminalApprover::Consent;

Task<Result<void>> stop_servers(sdk::AgentServers* servers) {
  co_await servers->stop();
  co_return Result<void>();
}

Task<void> note_end(Task<void> task, bool* is_done) {
  co_await std::move(task);
  *is_done = true;
}

// Whoever started this process may want it to outlive its terminal (nohup).
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
  std::_Exit(exit_code);
}

Result<Spec> make_agent_spec(const AgentOptions& options, ToolSetPtr tools) {
  Spec spec{.model_id = options.model, .system_prompt = options.system, .tools = std::move(tools)};
  spec.agent_id = options.agent;
  spec.budgets.max_tool_turns = options.max_turns;
  // A command whose client was killed may have taken effect: the model is told instead of failed.
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
      pool_(kToolThreads, kToolQueueMax),
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
    ERRAND_TRY(place_, sdk::RunPlace::here(options_.server, options_.config));
  } else {
    place_ = sdk::RunPlace::at_server(options_.server);
  }
  ToolSurroundings around{.approver = approver_, .pool = pool_, .web = place_->web()};
  ERRAND_TRY(auto tools, make_tools(options_, around));
  ERRAND_CHECK(connect_servers());
  if (servers_) {
    for (const ToolPtr& tool : servers_->tools()) tools.push_back(tool);
  }
  tools_.emplace(std::move(tools));
  ERRAND_TRY(spec_, make_agent_spec(options_, lent_tools()));
  return {};
}

AgentSession::~AgentSession() {
  if (!servers_) return;
  // The run has never begun.
  io_.restart();
  auto stopped = sdk::wait_for(io_, stop_servers(&*servers_));
  ERRAND_ASSERT(stopped);
}

Result<void> AgentSession::connect_servers() {
  if (options_.mcp.empty() && options_.a2a.empty()) return {};
  servers_.emplace(home_.executor(), timers_);
  bool is_done = false;
  tasks_.spawn("servers", note_end(servers_->connect(options_.mcp, options_.a2a), &is_done));
  // Connections that stay would keep the loop busy for ever; without any, it has run dry.
  while (!is_done && io_.run_one() > 0) {
  }
  io_.restart();
  if (!is_done) return Error(ErrorCode::internal, "the servers' tools could not be learned");
  for (const Error& failure : servers_->failures()) {
    [[maybe_unused]] auto written = write_fully(STDERR_FILENO, describe_for_people(failure));
  }
  return {};
}

// What a run is told of the tools of this process: those of MCP servers go under their server.
ToolSetPtr AgentSession::lent_tools() const {
  if (place_->is_here()) return sdk::lend_as_host(tools_->tools());
  if (!servers_) return sdk::lend_as_client(tools_->tools());
  return sdk::lend_as_client(tools_->tools(), servers_->refs());
}

// Whoever waits for signals does so before the work can be over and call that off.
int AgentSession::run(AgentWork& work) {
  if (place_->is_here()) {
    log_.emplace(LogLines::Parts{.io = io_, .printer = *printer_, .console = console_});
  }
  auto opened =
      place_->open({.io = io_,
                    .tools = *tools_,
                    .log_fd = log_ ? log_->fd() : STDERR_FILENO,
                    .on_model_retry = [this](const ModelFailure& failure, milliseconds pause) {
                      printer_->retrying(failure.message, pause);
                    }});
  if (!opened) {
    return report_failure(*printer_, opened.error(), exit_code_of_place(opened.error()));
  }
  for (int signal : {SIGINT, SIGTERM}) signals_.add(signal);
  if (!is_hangup_ignored()) signals_.add(SIGHUP);
  tasks_.spawn("signals", watch_signals(&work));
  tasks_.spawn("work", live(&work));
  io_.run();
  return exit_code_;
}

int AgentSession::exit_code_of_place(const Error& error) const {
  if (!place_->is_here()) return setup_exit_code(error);
  return error.code() == ErrorCode::invalid_argument ? kExitUsage : exit_code_of(error);
}

Task<void> AgentSession::live(AgentWork* work) {
  if (log_) log_->start([work] { work->on_log_shown(); });
  place_->start();
  exit_code_ = co_await work->work();
  leave_after(kCleanUpMax, exit_code_);
  signals_.cancel();
  signals_.clear();  // what is left may take a moment, and Ctrl-C need not wait for it
  co_await work->clean_up();
  co_await place_->stop();
  if (log_) log_->close();
  if (servers_) co_await servers_->stop();
  servers_.reset();
  last_resort_.reset();
}

Task<void> AgentSession::watch_signals(AgentWork* work) {
  for (;;) {
    auto [error, signal] = co_await signals_.async_wait(as_result);
    if (error) co_return;
    work->on_signal(signal);
  }
}

void AgentSession::leave_after(seconds patience, int exit_code) {
  last_resort_.emplace(timers_, timers_.now() + patience, [exit_code] { leave_now(exit_code); });
}

}  // namespace errand::cli
