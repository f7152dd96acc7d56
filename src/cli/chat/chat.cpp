#include "cli/chat/chat.hpp"

#include <csignal>
#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/chat/conversation.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kShownPastBytesMax = 8000;

// The last message, and the model's answer to it.
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

Chat::Chat(AgentSession& session, LineInput& input, Beginning beginning)
    : session_(session), input_(input), beginning_(std::move(beginning)) {}

Task<int> Chat::work() {
  session_.watch_signal(SIGWINCH);
  session_.watch_signal(SIGCONT);
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
  ExitCode interrupted = co_await leave(kExitInterrupted);
  co_return interrupted.value_or(kExitInterrupted);
}

Task<Result<void>> Chat::begin() {
  auto models = co_await session_.api().models({});
  if (!models) co_return with_way_out(models.error());
  model_ = session_.spec().model_id;
  if (beginning_.resume) {
    ERRAND_CO_TRY(thread_,
                  co_await resume_chat(&session_.api(), *beginning_.resume, session_.spec()));
    ERRAND_CO_CHECK(co_await show_past());
  } else {
    thread_ = new_chat(session_.api(), session_.spec());
  }
  if (model_.empty()) model_ = models->default_id;
  if (!is_script()) {
    std::string about = cat(shown_line(model_), "; /help shows what you can do, Ctrl-D ends");
    co_await tell(session_.printer().aside(about));
  }
  co_return Result<void>();
}

// Shows the last messages, and a run in progress from its beginning to its end. Later messages go
// to the model that gave the last answer, unless the flags name another one.
Task<Result<void>> Chat::show_past() {
  ERRAND_CO_TRY(auto past, co_await thread_->past());
  if (model_.empty() && !past.model_id.empty()) {
    model_ = past.model_id;
    thread_->choose_model(model_);
  }
  if (!is_script() && !past.last.empty()) {
    co_await tell(session_.printer().aside(last_exchange(past.last)));
  }
  if (!past.run) co_return Result<void>();
  auto end = co_await rejoin(std::move(*past.run));
  if (!end) co_return end.error();
  if (!is_cancelled_) report_end(session_.printer(), end);
  co_return Result<void>();
}

// Shows messages that came from another terminal since the last message.
Task<Result<void>> Chat::show_news() {
  ERRAND_CO_TRY(auto news, co_await thread_->news());
  if (is_script() || news.empty()) co_return Result<void>();
  co_await tell(session_.printer().aside(cat("meanwhile in this chat:\n", last_exchange(news))));
  co_return Result<void>();
}

// A line that ends with a backslash continues.
Task<Result<InputLine>> Chat::read_message() {
  std::string text;
  std::string prompt = "> ";
  for (;;) {
    is_reading_ = true;
    auto line = co_await input_.read(prompt);
    is_reading_ = false;
    if (!line) co_return line;
    if (line->kind == InputLine::Kind::ended && !text.empty()) co_return InputLine{.text = text};
    if (line->kind != InputLine::Kind::text) {
      line->text = text + line->text;
      co_return line;
    }
    if (!trim(line->text).empty()) input_.remember(line->text);
    bool goes_on = line->text.ends_with('\\');
    if (goes_on) line->text.back() = '\n';
    text += line->text;
    if (!goes_on) co_return InputLine{.text = std::move(text)};
    prompt = ". ";
  }
}

Task<Chat::ExitCode> Chat::hear_nothing(InputLine line) {
  if (line.kind == InputLine::Kind::ended) co_return co_await leave(kExitOk);
  bool is_again = is_warned_ && line.text.empty();
  if (is_again || is_ending_ || is_script()) co_return co_await leave(kExitInterrupted);
  is_warned_ = true;
  co_await tell(session_.printer().note("Ctrl-C again ends the chat"));
  co_return ExitCode();
}

Task<Chat::ExitCode> Chat::say(std::string message) {
  auto caught_up = co_await catch_up();
  if (caught_up) caught_up = co_await show_news();
  Result<sdk::RunEnd> end = caught_up ? sdk::RunEnd() : Result<sdk::RunEnd>(caught_up.error());
  if (caught_up) end = co_await ask(std::move(message));
  if (!end && end.error().reason() == kOutputClosed) co_return kExitOk;
  int code = is_cancelled_ ? kExitInterrupted : report_end(session_.printer(), end);
  if (is_script() && code != kExitOk) co_return code;
  co_return ExitCode();
}

// The end of a run was not seen if the server was unreachable, so the run may have ended since.
Task<Result<void>> Chat::catch_up() {
  is_cancelled_ = false;
  if (!is_lost_) co_return Result<void>();
  ERRAND_CO_TRY(auto run, co_await session_.api().get(thread_->last_run()));
  is_lost_ = false;
  if (is_terminal(run.status)) co_return Result<void>();
  auto end = co_await rejoin(std::move(run));
  if (!end) co_return end.error();
  co_return Result<void>();
}

OwnRun& Chat::begin_run() {
  is_cancelled_ = false;
  return run_.emplace(session_);
}

Task<Result<sdk::RunEnd>> Chat::ask(std::string message) {
  auto end = co_await begin_run().ask(thread_->say(std::move(message)));
  co_return co_await close_run(std::move(end));
}

Task<Result<sdk::RunEnd>> Chat::rejoin(sdk::RunInfo run) {
  auto end = co_await begin_run().rejoin(std::move(run));
  co_return co_await close_run(std::move(end));
}

Task<Result<sdk::RunEnd>> Chat::close_run(Result<sdk::RunEnd> end) {
  if (end) {
    auto cost = co_await run_->sum_up(*end, OwnRun::Place::left_out);
    cost_usd_ += cost.value_or(0);
  }
  co_await tell(session_.printer().make_room());
  co_await run_->clean_up();
  is_cancelled_ = run_->is_interrupted();
  is_lost_ = !end && !run_->id().empty();
  if (!run_->id().empty()) thread_->go_on_from(run_->id());
  run_.reset();
  co_return end;
}

Task<void> Chat::tell(Pieces pieces) {
  [[maybe_unused]] auto written = co_await session_.console().write(std::move(pieces));
}

Task<void> Chat::clean_up() {
  co_return;
}

void Chat::on_log_shown() {
  if (is_reading_) input_.redraw();
}

void Chat::on_signal(int signal) {
  bool is_redraw = signal == SIGWINCH || signal == SIGCONT;
  if (!is_redraw) return stop(signal);
  if (is_reading_) input_.redraw();
}

// Ctrl-C stops the answer or clears the line; the other signals also end the chat.
void Chat::stop(int signal) {
  bool is_again = is_ending_ || (run_ && run_->is_interrupted());
  if (is_again || (!has_begun_ && !run_)) {
    std::string how = way_back();
    if (!how.empty() && takes_errors()) write_now(session_.printer().aside(how));
    leave_now(kExitInterrupted);
  }
  if (signal != SIGINT) {
    is_ending_ = true;
    session_.leave_after(OwnRun::kCancelGrace, kExitInterrupted);
  }
  if (run_) run_->interrupt();
  if (is_reading_) input_.interrupt();
}

}  // namespace errand::cli
