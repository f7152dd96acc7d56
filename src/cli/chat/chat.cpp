#include "cli/chat/chat.hpp"

#include <csignal>
#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/agent/leave.hpp"
#include "cli/chat/conversation.hpp"
#include "cli/show/answer_text.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kShownPastBytesMax = 8000;
constexpr std::size_t kShownChars = 120;

std::string shown_id(std::string_view id) {
  return clean_line(id, kShownChars);
}

// The last message and what the model said to it.
std::string last_exchange(const std::vector<Saying>& sayings) {
  std::string out;
  for (const Saying& saying : sayings) {
    if (saying.kind == Saying::Kind::user) out = cat("> ", saying.text);
    if (saying.kind == Saying::Kind::model) append(out, "\n", saying.text);
  }
  if (out.size() <= kShownPastBytesMax) return out;
  return cat(utf8_prefix(out, kShownPastBytesMax), "...");
}

}  // namespace

Chat::Chat(Parts parts, Beginning beginning)
    : parts_(parts),
      beginning_(std::move(beginning)),
      thread_(parts.place.api, beginning_.id, beginning_.fields),
      home_(parts.place.io),
      timers_(home_),
      signals_(parts.place.io, SIGINT, SIGTERM),
      exit_code_(kExitFailed),
      tasks_(home_.executor(), [this](const char* task, const std::string& what) {
        sdk::report_bug(task, what);
        signals_.cancel();
      }) {
  add_hangup(signals_);
  signals_.add(SIGWINCH);
  signals_.add(SIGCONT);
}

// Whoever waits for signals does so before the chat can be over and call that off.
void Chat::start() {
  tasks_.spawn("signals", watch_signals());
  tasks_.spawn("chat", run());
}

Task<void> Chat::run() {
  host::Host* host = parts_.place.host;
  if (host) {
    parts_.place.log->start([this] {
      if (is_reading_) parts_.input.redraw();
    });
    host->engine().start();
  }
  exit_code_ = co_await talk();
  last_resort_.emplace(timers_, timers_.now() + kCleanUpMax, [this] { leave_now(exit_code_); });
  signals_.cancel();
  signals_.clear();  // what is left may take a moment, and Ctrl-C need not wait for it
  if (host) {
    host->engine().drain();
    co_await host->engine().stop();
    parts_.place.log->close();
  }
  last_resort_.reset();
}

Task<int> Chat::talk() {
  auto begun = co_await begin();
  if (!begun) co_return is_ending_ ? kExitInterrupted : fail(begun.error());
  has_begun_ = true;
  while (!is_ending_) {
    auto line = co_await read_message();
    if (!line && line.error().code() == ErrorCode::invalid_argument) {
      co_return fail_usage(line.error());
    }
    if (!line) co_return fail(line.error());
    ExitCode left;
    if (line->kind == InputLine::Kind::text) {
      is_warned_ = false;
      left = co_await take(parse_chat_line(line->text));
    } else {
      left = co_await hear_nothing(std::move(*line));
    }
    if (left) co_return *left;
  }
  co_return kExitInterrupted;
}

Task<Result<void>> Chat::begin() {
  auto models = co_await parts_.place.api.send({.path = "/models"});
  if (!models) co_return with_way_out(models.error());
  model_ = thread_.chosen_model();
  if (beginning_.resume) {
    ERRAND_CO_TRY(auto run, co_await thread_.resume(*beginning_.resume));
    if (model_.empty()) model_ = text_of(run, "modelId");
    ERRAND_CO_CHECK(co_await show_past(std::move(run)));
  }
  if (model_.empty()) model_ = text_of(*models, "defaultModelId");
  if (!is_script()) {
    std::string about = cat(shown_id(model_), "; /help shows what you can do, Ctrl-D ends");
    co_await tell(parts_.printer.aside(about));
  }
  co_return Result<void>();
}

// A run that goes on is shown from its beginning to its end.
Task<Result<void>> Chat::show_past(json::Value run) {
  ERRAND_CO_TRY(auto sayings, co_await read_conversation(&parts_.place.api, thread_.last_run()));
  bool is_over = has_ended(run);
  auto is_user = [](const Saying& saying) { return saying.kind == Saying::Kind::user; };
  if (!is_over) std::erase_if(sayings, [&](const Saying& saying) { return !is_user(saying); });
  if (!is_script()) co_await tell(parts_.printer.aside(last_exchange(sayings)));
  if (is_over) co_return Result<void>();
  auto end = co_await rejoin(std::move(run));
  if (!end) co_return end.error();
  if (!is_cancelled_) report_end(end);
  co_return Result<void>();
}

// Lines that end with a backslash go on.
Task<Result<InputLine>> Chat::read_message() {
  std::string text;
  std::string prompt = "> ";
  for (;;) {
    is_reading_ = true;
    auto line = co_await parts_.input.read(prompt);
    is_reading_ = false;
    if (!line) co_return line;
    if (line->kind == InputLine::Kind::ended && !text.empty()) co_return InputLine{.text = text};
    if (line->kind != InputLine::Kind::text) {
      line->text = text + line->text;
      co_return line;
    }
    if (!trim(line->text).empty()) parts_.input.remember(line->text);
    bool goes_on = line->text.ends_with('\\');
    if (goes_on) line->text.back() = '\n';
    text += line->text;
    if (!goes_on) co_return InputLine{.text = std::move(text)};
    prompt = ". ";
  }
}

Task<Chat::ExitCode> Chat::hear_nothing(InputLine line) {
  if (line.kind == InputLine::Kind::ended) co_return co_await leave();
  bool is_again = is_warned_ && line.text.empty();
  if (is_again || is_ending_ || is_script()) co_return kExitInterrupted;
  is_warned_ = true;
  co_await tell(parts_.printer.note("Ctrl-C again ends the chat"));
  co_return ExitCode();
}

Task<Chat::ExitCode> Chat::say(std::string message) {
  auto caught_up = co_await catch_up();
  Result<sdk::RunEnd> end = caught_up ? sdk::RunEnd() : Result<sdk::RunEnd>(caught_up.error());
  if (caught_up) end = co_await ask(thread_.say(message));
  if (!end && end.error().reason() == kOutputClosed) co_return kExitOk;
  int code = is_cancelled_ ? kExitInterrupted : report_end(end);
  if (is_script() && code != kExitOk) co_return code;
  co_return ExitCode();
}

// A run whose end was not seen, because the server was away, may have ended since.
Task<Result<void>> Chat::catch_up() {
  is_cancelled_ = false;
  if (!is_lost_) co_return Result<void>();
  ERRAND_CO_TRY(auto run,
                co_await parts_.place.api.send({.path = sdk::run_path(thread_.last_run(), "")}));
  is_lost_ = false;
  if (has_ended(run)) co_return Result<void>();
  auto end = co_await rejoin(std::move(run));
  if (!end) co_return end.error();
  co_return Result<void>();
}

void Chat::begin_run() {
  is_cancelled_ = false;
  run_.emplace(OwnRun::Parts{.api = parts_.place.api,
                             .timers = timers_,
                             .tools = parts_.tools,
                             .printer = parts_.printer,
                             .console = parts_.console},
               home_.executor());
}

Task<Result<sdk::RunEnd>> Chat::ask(sdk::ApiRequest request) {
  begin_run();
  auto end = co_await run_->ask(std::move(request));
  co_return co_await close_run(std::move(end));
}

Task<Result<sdk::RunEnd>> Chat::rejoin(json::Value run) {
  begin_run();
  auto end = co_await run_->rejoin(std::move(run));
  co_return co_await close_run(std::move(end));
}

Task<Result<sdk::RunEnd>> Chat::close_run(Result<sdk::RunEnd> end) {
  if (end) co_await run_->sum_up(*end);
  co_await tell(parts_.printer.make_room());
  co_await run_->clean_up();
  is_cancelled_ = run_->is_interrupted();
  is_lost_ = !end && !run_->id().empty();
  if (!run_->id().empty()) thread_.go_on_from(run_->id());
  run_.reset();
  co_return end;
}

Task<void> Chat::tell(Pieces pieces) {
  [[maybe_unused]] auto written = co_await parts_.console.write(std::move(pieces));
}

Task<void> Chat::watch_signals() {
  for (;;) {
    auto [error, signal] = co_await signals_.async_wait(as_result);
    if (error) co_return;
    bool is_redraw = signal == SIGWINCH || signal == SIGCONT;
    if (!is_redraw) stop(signal);
    if (is_redraw && is_reading_) parts_.input.redraw();
  }
}

// Ctrl-C stops the answer or clears the line; other signals end the chat after that.
void Chat::stop(int signal) {
  bool is_again = is_ending_ || (run_ && run_->is_interrupted());
  if (is_again || (!has_begun_ && !run_)) leave_now(kExitInterrupted);
  if (signal != SIGINT) {
    is_ending_ = true;
    last_resort_.emplace(timers_, timers_.now() + OwnRun::kCancelGrace,
                         [] { leave_now(kExitInterrupted); });
  }
  if (run_) run_->interrupt();
  if (is_reading_) parts_.input.interrupt();
}

}  // namespace errand::cli
