#include "cli/show/follow.hpp"

#include <utility>

#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"

namespace errand::cli {
namespace {

using Item = sdk::RunStream::Item;

Pieces pieces_of(const FollowParams& params, const Item& item) {
  switch (item.kind) {
    case Item::Kind::lost:
      return params.printer.note(
          cat(item.why, "; trying again for ", sdk::RunStream::kPatience.count(), " s"));
    case Item::Kind::back: return params.printer.note("connected again");
    case Item::Kind::event: break;
  }
  bool is_answer = item.event.type == "local_tool_result_in";
  std::optional<milliseconds> took;
  if (params.calls && is_answer) took = params.calls->took(item.event.text("toolUseId"));
  return params.printer.show(item.event, took);
}

bool is_for_us(const FollowParams& params, const Item& item) {
  return params.calls && item.kind == Item::Kind::event && item.event.type == "local_tool_call" &&
         item.event.seq > params.calls_after;
}

// The run does not depend on whoever watches it.
Error with_advice(const Error& error, const sdk::RunStream& stream) {
  if (error.reason() != sdk::ApiClient::kUnreachable || stream.last_seq() == 0) return error;
  return Error(error.code(), error.message())
      .reason(error.reason())
      .hint(cat("the run goes on with the server: 'errand runs tail ", stream.run(), " --after ",
                stream.last_seq(), "' shows the rest"));
}

}  // namespace

Task<Result<sdk::RunEnd>> follow(FollowParams params) {
  for (;;) {
    auto item = co_await params.stream.next();
    if (!item) {
      [[maybe_unused]] auto written = co_await params.console.write(params.printer.finish());
      co_return with_advice(item.error(), params.stream);
    }
    if (is_for_us(params, *item)) params.calls->start(params.stream.run(), item->event);
    ERRAND_CO_CHECK(co_await params.console.write(pieces_of(params, *item)));
    auto end = item->kind == Item::Kind::event ? sdk::end_of(item->event) : std::nullopt;
    if (!end) continue;
    ERRAND_CO_CHECK(co_await params.console.write(params.printer.finish()));
    co_return std::move(*end);
  }
}

int report_end(const Result<sdk::RunEnd>& end) {
  if (!end && end.error().reason() == kOutputClosed) return kExitOk;
  if (!end) return fail(end.error());
  if (end->kind == sdk::RunEnd::Kind::succeeded) return kExitOk;
  return fail(Error(ErrorCode::conflict, end->message));
}

}  // namespace errand::cli
