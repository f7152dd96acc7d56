#include "cli/agent/prompt_run.hpp"

#include <csignal>
#include <utility>

#include "cli/agent/leave.hpp"
#include "cli/terminal/exit_code.hpp"

namespace errand::cli {

PromptRun::PromptRun(Parts parts, std::string body)
    : place_(parts.place),
      body_(std::move(body)),
      home_(parts.place.io),
      timers_(home_),
      signals_(parts.place.io, SIGINT, SIGTERM),
      exit_code_(kExitFailed),
      run_({.api = parts.place.api,
            .timers = timers_,
            .tools = parts.tools,
            .printer = parts.printer,
            .console = parts.console},
           home_.executor()),
      tasks_(home_.executor(), [this](const char* task, const std::string& what) {
        sdk::report_bug(task, what);
        signals_.cancel();
      }) {
  add_hangup(signals_);
}

// Whoever waits for signals does so before the run can be over and call that off.
void PromptRun::start() {
  tasks_.spawn("signals", watch_signals());
  tasks_.spawn("run", run());
}

Task<void> PromptRun::run() {
  if (place_.host) {
    place_.log->start({});
    place_.host->engine().start();
  }
  sdk::ApiRequest request{.method = net::Method::post, .path = "/agent-runs", .body = body_};
  auto end = co_await run_.ask(std::move(request));
  if (end) co_await run_.sum_up(*end);
  exit_code_ = run_.is_interrupted() ? kExitInterrupted : report_end(end);
  last_resort_.emplace(timers_, timers_.now() + kCleanUpMax, [this] { leave_now(exit_code_); });
  signals_.cancel();
  signals_.clear();  // what is left may take a moment, and Ctrl-C need not wait for it
  co_await clean_up();
  last_resort_.reset();
}

Task<void> PromptRun::clean_up() {
  co_await run_.clean_up();
  if (!place_.host) co_return;
  place_.host->engine().drain();
  co_await place_.host->engine().stop();
  place_.log->close();
}

Task<void> PromptRun::watch_signals() {
  auto [error, signal] = co_await signals_.async_wait(as_result);
  if (error) co_return;
  last_resort_.emplace(timers_, timers_.now() + OwnRun::kCancelGrace,
                       [] { leave_now(kExitInterrupted); });
  run_.interrupt();
  auto [again_error, again] = co_await signals_.async_wait(as_result);
  if (!again_error) leave_now(kExitInterrupted);
}

}  // namespace errand::cli
