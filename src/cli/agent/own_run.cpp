#include "cli/agent/own_run.hpp"

#include <utility>

#include "base/text.hpp"
#include "cli/show/run_summary.hpp"
#include "cli/show/wait_line.hpp"
#include "sdk/internal/tell_stderr.hpp"

namespace errand::cli {

Error with_way_out(const Error& error) {
  if (error.reason() != sdk::RunApi::kUnreachable) return error;
  return Error(error).hint(cat(error.hint(), ", --embedded runs without one"));
}

OwnRun::OwnRun(AgentSession& session)
    : session_(session),
      started_(session.timers().now()),
      tasks_(session.home(), sdk::report_bug) {}

Task<Result<sdk::RunEnd>> OwnRun::ask(Task<Result<RunId>> making) {
  session_.shown_calls().expect();
  auto made = co_await std::move(making);
  if (!made) {
    session_.shown_calls().end();
    co_return with_way_out(made.error());
  }
  co_return co_await show(session_.runner().follow(*made));
}

Task<Result<sdk::RunEnd>> OwnRun::rejoin(sdk::RunInfo run) {
  co_return co_await show(session_.runner().rejoin(run));
}

Task<Result<sdk::RunEnd>> OwnRun::show(sdk::FollowedRun run) {
  run_ = run->run();
  followed_ = std::move(run);
  session_.shown_calls().begin(run_);
  if (is_interrupted_) cancel();
  FollowParams params{.run = *followed_,
                      .console = session_.console(),
                      .printer = session_.printer(),
                      .shown = &session_.shown_calls(),
                      .timers = &session_.timers()};
  is_followed_ = true;
  std::optional<TaskGroup::Ticket> waiting;
  if (session_.printer().shows_waiting()) waiting = tasks_.spawn("waiting", show_waiting());
  auto end = co_await follow(params);
  is_followed_ = false;
  if (waiting) tasks_.cancel_one(*waiting);
  session_.shown_calls().end();
  co_return end;
}

// Stops after an interrupt: a process that exits at once must not leave half a line behind.
Task<void> OwnRun::show_waiting() {
  while (is_followed_ && !is_interrupted_) {
    co_await session_.timers().sleep_until(session_.timers().now() + WaitLine::kTick, nullptr);
    if (!is_followed_ || is_interrupted_) co_return;
    Pieces pieces = session_.printer().tick();
    if (pieces.empty()) continue;
    auto written = co_await session_.console().write(std::move(pieces));
    if (!written) co_return;
  }
}

Task<std::optional<double>> OwnRun::sum_up(sdk::RunEnd end, Place place) {
  auto took = std::chrono::duration_cast<milliseconds>(session_.timers().now() - started_);
  std::string text = end.kind == sdk::RunEnd::Kind::cancelled ? "cancelled: " : "";
  text += summary_of(end.totals, took);
  if (place == Place::told) append(text, "\n", run_.view(), " ", session_.runner().where());
  Pieces pieces = session_.printer().aside(text);
  [[maybe_unused]] auto written = co_await session_.console().write(std::move(pieces));
  co_return end.totals.cost_usd;
}

void OwnRun::interrupt() {
  is_interrupted_ = true;
  if (followed_) cancel();
}

// The note may be written to a stalled terminal, or a call may hold the terminal for its question,
// so cancelling does not wait for the note.
void OwnRun::cancel() {
  followed_->cut_off();
  tasks_.spawn("note", note("cancelling the run; Ctrl-C again leaves at once"));
  tasks_.spawn("cancel", cancel_run());
}

// The run's last event then ends the stream. Local calls are answered only after the cancel, so
// that the run does not continue with the answers.
Task<void> OwnRun::cancel_run() {
  auto cancelled = co_await session_.api().cancel(run_, kCancelGrace);
  followed_->give_up();
  if (!cancelled) co_await note(cat("cannot cancel the run: ", cancelled.error().message()));
}

Task<void> OwnRun::note(std::string text) {
  [[maybe_unused]] auto written = co_await session_.console().write(session_.printer().note(text));
}

Task<void> OwnRun::clean_up() {
  tasks_.cancel(CancelReason::shutdown);
  co_await tasks_.join();
  if (followed_) co_await session_.runner().leave(std::exchange(followed_, nullptr));
}

}  // namespace errand::cli
