#include "cli/agent/own_run.hpp"

#include <utility>

#include "base/text.hpp"
#include "cli/show/answer_text.hpp"
#include "cli/show/run_summary.hpp"
#include "json/fields.hpp"

namespace errand::cli {
namespace {

constexpr seconds kPricesMax{2};

}  // namespace

Error with_way_out(const Error& error) {
  if (error.reason() != sdk::ApiClient::kUnreachable) return error;
  return Error(error).hint(cat(error.hint(), ", --embedded runs without one"));
}

OwnRun::OwnRun(Parts parts, Executor home)
    : parts_(parts),
      started_(parts.timers.now()),
      calls_(parts.api, parts.timers, home, parts.tools),
      cancelling_(home, sdk::report_bug) {}

Task<Result<sdk::RunEnd>> OwnRun::ask(sdk::ApiRequest request) {
  auto created = co_await parts_.api.send(std::move(request));
  if (!created) co_return with_way_out(created.error());
  json::Fields fields(*created, "");
  run_ = fields.text("runId");
  ERRAND_CO_CHECK(fields.finish());
  co_return co_await follow_from(0);
}

Task<Result<sdk::RunEnd>> OwnRun::rejoin(json::Value run) {
  json::Fields fields(run, "");
  run_ = fields.text("runId");
  EventSeq last_seq = fields.integer("lastSeq", 0, INT64_MAX);
  ERRAND_CO_CHECK(fields.finish());
  for (json::Value& call : items_of(run, "pendingCalls")) {
    if (call.is_object()) calls_.start(run_, {.fields = std::move(call.get_object())});
  }
  co_return co_await follow_from(last_seq);
}

Task<Result<sdk::RunEnd>> OwnRun::follow_from(EventSeq calls_after) {
  if (is_interrupted_) cancelling_.spawn("cancel", cancel());
  stream_.emplace(parts_.api, parts_.timers, run_, 0, sdk::RunStream::FirstFailure::is_retried);
  FollowParams params{.stream = *stream_,
                      .console = parts_.console,
                      .printer = parts_.printer,
                      .calls = &calls_,
                      .calls_after = calls_after};
  co_return co_await follow(params);
}

// Prices are nice to have: whoever cannot tell them is not asked twice.
Task<void> OwnRun::sum_up(sdk::RunEnd end) {
  auto took = std::chrono::duration_cast<milliseconds>(parts_.timers.now() - started_);
  auto models = co_await parts_.api.send({.path = "/models", .timeout = kPricesMax});
  std::string text = summary_of(end, models ? *models : json::Value(), took);
  [[maybe_unused]] auto written = co_await parts_.console.write(parts_.printer.aside(text));
}

void OwnRun::interrupt() {
  is_interrupted_ = true;
  calls_.cut_off();
  if (!run_.empty()) cancelling_.spawn("cancel", cancel());
}

// The stream then ends with the event that says so. Calls are answered after the run knows, so that
// it does not go on with the answers.
Task<void> OwnRun::cancel() {
  auto written = co_await parts_.console.write(
      parts_.printer.note("cancelling the run; Ctrl-C again leaves at once"));
  sdk::ApiRequest request{
      .method = net::Method::post, .path = sdk::run_path(run_, "/cancel"), .timeout = kCancelGrace};
  auto cancelled = co_await parts_.api.send(std::move(request));
  calls_.give_up();
  if (cancelled || !written) co_return;
  written = co_await parts_.console.write(
      parts_.printer.note(cat("cannot cancel the run: ", cancelled.error().message())));
}

Task<void> OwnRun::clean_up() {
  cancelling_.cancel(CancelReason::shutdown);
  co_await cancelling_.join();
  co_await calls_.stop();
  stream_.reset();
}

}  // namespace errand::cli
