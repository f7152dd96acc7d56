#include "cli/show/follow.hpp"

#include <map>
#include <utility>

#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"

namespace errand::cli {
namespace {

using Item = sdk::RunStream::Item;

// Remembers when calls by the engine began, if that was seen.
class CallTimes final {
 public:
  CallTimes(const Timers* timers, EventSeq after) : timers_(timers), after_(after) {}

  // The duration of a call, if the event is its result.
  std::optional<milliseconds> see(const StampedEvent& event) {
    if (!timers_ || event.seq <= after_) return {};
    if (const auto* call = std::get_if<ToolCallStarted>(&event.event)) {
      begun_[call->id] = timers_->now();
    }
    const auto* result = std::get_if<ToolResultEvent>(&event.event);
    auto known = result ? begun_.extract(result->id) : decltype(begun_)::node_type();
    if (!known) return {};
    return std::chrono::duration_cast<milliseconds>(timers_->now() - known.mapped());
  }

 private:
  const Timers* const timers_;
  const EventSeq after_;
  std::map<ToolUseId, SteadyTime> begun_;
};

Pieces pieces_of(const FollowParams& params, const Item& item, CallTimes& times) {
  switch (item.kind) {
    case Item::Kind::lost:
      return params.printer.note(
          cat(item.why, "; trying again for ", sdk::RunStream::kPatience.count(), " s"));
    case Item::Kind::back: return params.printer.note("connected again");
    case Item::Kind::retry: params.printer.retrying(item.why, item.pause); return {};
    case Item::Kind::event: break;
  }
  const auto* answer = std::get_if<LocalToolResultIn>(&item.event.event);
  std::optional<milliseconds> took = times.see(item.event);
  if (answer) took = params.run.took(answer->id);
  return params.printer.show(item.event, took);
}

void note_call(ShownCalls& shown, const Event& event) {
  if (const auto* call = std::get_if<ToolCallStarted>(&event)) shown.add(call->id);
  if (const auto* call = std::get_if<LocalToolCall>(&event)) shown.add(call->id);
}

// Tells how to follow the run again: it does not depend on its readers.
Error with_advice(const Error& error, const sdk::Following& run) {
  if (error.reason() != sdk::RunApi::kUnreachable || run.last_seq() == 0) return error;
  return Error(error.code(), error.message())
      .reason(error.reason())
      .hint(cat("the run continues on the server: 'errand runs tail ", run.run().view(),
                " --after ", run.last_seq(), "' shows the rest"));
}

}  // namespace

Task<Result<sdk::RunEnd>> follow(FollowParams params) {
  params.printer.begin(params.run.run());
  CallTimes times(params.timers, params.run.calls_after());
  for (;;) {
    auto item = co_await params.run.next();
    if (!item) {
      [[maybe_unused]] auto written = co_await params.console.write(params.printer.finish());
      co_return with_advice(item.error(), params.run);
    }
    bool is_event = item->kind == Item::Kind::event;
    ERRAND_CO_CHECK(co_await params.console.write(pieces_of(params, *item, times)));
    if (is_event && params.shown) note_call(*params.shown, item->event.event);
    auto end = is_event ? sdk::end_of(item->event.event) : std::nullopt;
    if (!end) continue;
    ERRAND_CO_CHECK(co_await params.console.write(params.printer.finish()));
    co_return std::move(*end);
  }
}

int report_end(EventPrinter& printer, const Result<sdk::RunEnd>& end) {
  if (!end && end.error().reason() == kOutputClosed) return kExitOk;
  if (!end) return report_failure(printer, end.error(), exit_code_of(end.error()));
  if (end->kind == sdk::RunEnd::Kind::succeeded) return kExitOk;
  write_now(printer.bad_end(Error(ErrorCode::conflict, end->message)));
  return kExitFailed;
}

int report_failure(EventPrinter& printer, const Error& error, int exit_code) {
  write_now(printer.failure(error));
  return exit_code;
}

}  // namespace errand::cli
