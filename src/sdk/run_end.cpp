#include "sdk/run_end.hpp"

#include <utility>

#include "base/text.hpp"

namespace errand::sdk {
namespace {

RunEnd failed(std::string_view what, std::string_view word, const RunTotals& totals) {
  std::string message = cat("the run failed: ", what.empty() ? "no reason was given" : what);
  if (!word.empty()) append(message, " (", word, ")");
  return {.kind = RunEnd::Kind::failed, .message = std::move(message), .totals = totals};
}

}  // namespace

std::optional<RunEnd> end_of(const Event& event) {
  if (const auto* end = std::get_if<ResultEvent>(&event)) {
    if (end->subtype == "success") return RunEnd{.totals = end->totals};
    return failed(end->text, end->subtype, end->totals);
  }
  if (const auto* end = std::get_if<ErrorEvent>(&event)) {
    return failed(end->message, end->error_class, end->totals);
  }
  const auto* end = std::get_if<CancelledEvent>(&event);
  if (!end) return {};
  return RunEnd{
      .kind = RunEnd::Kind::cancelled, .message = "the run was cancelled", .totals = end->totals};
}

}  // namespace errand::sdk
