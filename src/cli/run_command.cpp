#include "cli/run_command.hpp"

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "async/home.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/follow.hpp"
#include "json/fields.hpp"
#include "json/write.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kPromptBytesMax =
    std::size_t{32} * 1024 * 1024;  // what a server takes at most
constexpr seconds kCancelGrace{3};
constexpr seconds kCleanUpMax{1};

// Leaves although threads may hang in a call to the system (a dead network disk, a stopped pager).
[[noreturn]] void leave_now(int exit_code) {
  std::_Exit(exit_code);
}

Result<std::string> read_stdin() {
  std::string text;
  std::string buffer(64 * 1024, '\0');
  for (;;) {
    ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return Error(ErrorCode::invalid_argument,
                   cat("cannot read stdin: ", std::generic_category().message(errno)));
    }
    text.append(buffer, 0, static_cast<std::size_t>(count));
    if (text.size() > kPromptBytesMax) {
      return Error(ErrorCode::invalid_argument, "the prompt on stdin is too long");
    }
  }
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

Error empty_prompt() {
  return {ErrorCode::invalid_argument, "the prompt is empty"};
}

Result<std::string> prompt_of(const RunOptions& options) {
  if (options.prompt != "-") return options.prompt;
  ERRAND_TRY(auto prompt, read_stdin());
  if (prompt.empty()) return empty_prompt();
  return prompt;
}

std::string create_body(const RunOptions& options, const std::string& prompt) {
  json::Object body{{"prompt", prompt}};
  if (!options.model.empty()) body["modelId"] = options.model;
  if (!options.system.empty()) body["systemPrompt"] = options.system;
  if (!options.files.empty()) body["tools"] = FilesTool::declarations();
  if (options.max_turns) body["budgets"] = json::Object{{"maxToolTurns", *options.max_turns}};
  return json::write(body);
}

// Everything of one `errand run`, in the order it is built.
class PromptRun final {
 public:
  PromptRun(asio::io_context& io, const Credentials& server, Form form, std::string body,
            std::optional<FilesTool> files)
      : body_(std::move(body)),
        home_(io),
        timers_(home_),
        api_(server, client_options_here()),
        printer_(form),
        signals_(io, SIGINT, SIGTERM),
        tasks_(home_.executor(), [this](const char* task, const std::string& what) {
          report_bug(task, what);
          signals_.cancel();
        }) {
    if (files) calls_.emplace(api_, timers_, home_.executor(), std::move(*files));
  }

  void start() {
    tasks_.spawn("run", run());
    tasks_.spawn("signals", watch_signals());
  }
  int exit_code() const { return exit_code_; }

 private:
  Task<void> run() {
    auto end = co_await create_and_follow();
    exit_code_ = is_interrupted_ ? kExitInterrupted : report_end(end);
    last_resort_.emplace(timers_, timers_.now() + kCleanUpMax, [this] { leave_now(exit_code_); });
    signals_.cancel();
    cancelling_.cancel(CancelReason::shutdown);
    co_await cancelling_.join();
    if (calls_) co_await calls_->stop();
    last_resort_.reset();
  }

  Task<Result<RunEnd>> create_and_follow() {
    ApiRequest request{.method = net::Method::post, .path = "/agent-runs", .body = body_};
    ERRAND_CO_TRY(auto created, co_await api_.send(std::move(request)));
    json::Fields fields(created, "");
    run_ = fields.text("runId");
    ERRAND_CO_CHECK(fields.finish());
    if (is_interrupted_) cancelling_.spawn("cancel", cancel());
    stream_.emplace(api_, timers_, run_, 0, RunStream::FirstFailure::is_retried);
    FollowParams params{.stream = *stream_,
                        .console = console_,
                        .printer = printer_,
                        .calls = calls_ ? &*calls_ : nullptr};
    co_return co_await follow(params);
  }

  Task<void> watch_signals() {
    auto [error, signal] = co_await signals_.async_wait(as_result);
    if (error) co_return;
    is_interrupted_ = true;
    last_resort_.emplace(timers_, timers_.now() + kCancelGrace,
                         [] { leave_now(kExitInterrupted); });
    if (!run_.empty()) cancelling_.spawn("cancel", cancel());
    auto [again_error, again] = co_await signals_.async_wait(as_result);
    if (!again_error) leave_now(kExitInterrupted);
  }

  // The stream then ends with the event that says so.
  Task<void> cancel() {
    auto written =
        co_await console_.write(printer_.note("cancelling the run; Ctrl-C again leaves at once"));
    ApiRequest request{
        .method = net::Method::post, .path = run_path(run_, "/cancel"), .timeout = kCancelGrace};
    auto cancelled = co_await api_.send(std::move(request));
    if (cancelled || !written) co_return;
    written = co_await console_.write(
        printer_.note(cat("cannot cancel the run: ", cancelled.error().message())));
  }

  const std::string body_;
  Home home_;
  AsioTimers timers_;
  ApiClient api_;
  Console console_;
  EventPrinter printer_;
  asio::signal_set signals_;
  std::string run_;  // empty until it is created
  bool is_interrupted_ = false;
  int exit_code_ = kExitFailed;
  std::optional<TimerGuard> last_resort_;
  std::optional<RunStream> stream_;
  std::optional<LocalCalls> calls_;
  TaskGroup cancelling_{home_.executor(), report_bug};
  TaskGroup tasks_;  // last: tasks use everything above
};

Result<std::optional<FilesTool>> open_files(const RunOptions& options) {
  if (options.files.empty()) return std::optional<FilesTool>();
  auto directory = SharedDirectory::open(options.files, credentials_file(options.server.data));
  if (!directory)
    return Error(directory.error().code(), cat("--files: ", directory.error().message()));
  return std::optional<FilesTool>(std::move(*directory));
}

}  // namespace

int run_command(const RunOptions& options) {
  ignore_broken_pipes();
  if (options.prompt.empty()) return fail_usage(empty_prompt());
  auto files = open_files(options);
  if (!files) return fail_usage(files.error());
  auto server = find_server_here(options.server);
  if (!server) return fail_setup(server.error());
  auto prompt = prompt_of(options);
  if (!prompt) return fail_usage(prompt.error());

  asio::io_context io(1);
  PromptRun run(io, *server, options.form, create_body(options, *prompt), std::move(*files));
  run.start();
  io.run();
  return run.exit_code();
}

}  // namespace errand::cli
