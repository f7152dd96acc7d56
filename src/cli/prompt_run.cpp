#include "cli/prompt_run.hpp"

#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/text.hpp"
#include "cli/exit_code.hpp"
#include "cli/run_summary.hpp"
#include "json/fields.hpp"

namespace errand::cli {
namespace {

constexpr seconds kCancelGrace{3};
constexpr seconds kCleanUpMax{1};
constexpr seconds kPricesMax{2};

// Leaves although threads may hang in a call to the system (a dead network disk, a stopped pager).
[[noreturn]] void leave_now(int exit_code) {
  std::_Exit(exit_code);
}

// Whoever started this process may want it to outlive its terminal (nohup).
bool is_ignored(int signal) {
  struct sigaction now{};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

Error with_way_out(const Error& error) {
  if (error.reason() != ApiClient::kUnreachable) return error;
  return Error(error).hint(cat(error.hint(), ", --embedded runs without one"));
}

}  // namespace

PromptRun::PromptRun(Parts parts, std::string body)
    : parts_(parts),
      body_(std::move(body)),
      home_(parts.io),
      timers_(home_),
      started_(timers_.now()),
      signals_(parts.io, SIGINT, SIGTERM),
      exit_code_(kExitFailed),
      calls_(parts.api, timers_, home_.executor(), parts.tools),
      cancelling_(home_.executor(), report_bug),
      tasks_(home_.executor(), [this](const char* task, const std::string& what) {
        report_bug(task, what);
        signals_.cancel();
      }) {
  if (!is_ignored(SIGHUP)) signals_.add(SIGHUP);
}

// Whoever waits for signals does so before the run can be over and call that off.
void PromptRun::start() {
  tasks_.spawn("signals", watch_signals());
  tasks_.spawn("run", run());
}

Task<void> PromptRun::run() {
  if (parts_.host) parts_.host->engine().start();
  auto end = co_await create_and_follow();
  if (end) co_await sum_up(*end);
  exit_code_ = is_interrupted_ ? kExitInterrupted : report_end(end);
  last_resort_.emplace(timers_, timers_.now() + kCleanUpMax, [this] { leave_now(exit_code_); });
  signals_.cancel();
  signals_.clear();  // what is left may take a moment, and Ctrl-C need not wait for it
  co_await clean_up();
  last_resort_.reset();
}

Task<Result<RunEnd>> PromptRun::create_and_follow() {
  ApiRequest request{.method = net::Method::post, .path = "/agent-runs", .body = body_};
  auto created = co_await parts_.api.send(std::move(request));
  if (!created) co_return with_way_out(created.error());
  json::Fields fields(*created, "");
  run_ = fields.text("runId");
  ERRAND_CO_CHECK(fields.finish());
  if (is_interrupted_) cancelling_.spawn("cancel", cancel());
  stream_.emplace(parts_.api, timers_, run_, 0, RunStream::FirstFailure::is_retried);
  FollowParams params{
      .stream = *stream_, .console = parts_.console, .printer = parts_.printer, .calls = &calls_};
  co_return co_await follow(params);
}

// Prices are nice to have: whoever cannot tell them is not asked twice.
Task<void> PromptRun::sum_up(RunEnd end) {
  auto took = std::chrono::duration_cast<milliseconds>(timers_.now() - started_);
  auto models = co_await parts_.api.send({.path = "/models", .timeout = kPricesMax});
  std::string text = summary_of(end, models ? *models : json::Value(), took);
  [[maybe_unused]] auto written = co_await parts_.console.write(parts_.printer.summary(text));
}

Task<void> PromptRun::clean_up() {
  cancelling_.cancel(CancelReason::shutdown);
  co_await cancelling_.join();
  co_await calls_.stop();
  stream_.reset();
  if (!parts_.host) co_return;
  parts_.host->engine().drain();
  co_await parts_.host->engine().stop();
}

Task<void> PromptRun::watch_signals() {
  auto [error, signal] = co_await signals_.async_wait(as_result);
  if (error) co_return;
  is_interrupted_ = true;
  calls_.cut_off();
  last_resort_.emplace(timers_, timers_.now() + kCancelGrace, [] { leave_now(kExitInterrupted); });
  if (!run_.empty()) cancelling_.spawn("cancel", cancel());
  auto [again_error, again] = co_await signals_.async_wait(as_result);
  if (!again_error) leave_now(kExitInterrupted);
}

// The stream then ends with the event that says so. Calls are answered after the run knows, so that
// it does not go on with the answers.
Task<void> PromptRun::cancel() {
  auto written = co_await parts_.console.write(
      parts_.printer.note("cancelling the run; Ctrl-C again leaves at once"));
  ApiRequest request{
      .method = net::Method::post, .path = run_path(run_, "/cancel"), .timeout = kCancelGrace};
  auto cancelled = co_await parts_.api.send(std::move(request));
  calls_.give_up();
  if (cancelled || !written) co_return;
  written = co_await parts_.console.write(
      parts_.printer.note(cat("cannot cancel the run: ", cancelled.error().message())));
}

}  // namespace errand::cli
