#include "cli/show/run_summary.hpp"

#include <array>
#include <cstdio>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "cli/show/event_printer.hpp"

namespace errand::cli {
namespace {

constexpr double kCostShownMin = 0.0001;
constexpr std::size_t kModelChars = 80;

}  // namespace

std::string shown_cost(double usd) {
  if (usd > 0 && usd < kCostShownMin) return "less than $0.0001";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), usd < 1 ? "$%.4f" : "$%.2f", usd);
  return text.data();
}

std::string summary_of(const RunTotals& totals, milliseconds took) {
  std::string out =
      totals.model.id.empty() ? "" : cat(clean_line(totals.model.id, kModelChars), ", ");
  append(out, totals.turns, totals.turns == 1 ? " turn, " : " turns, ");
  // Every request and every answer has tokens, so none at all means that they were not counted.
  if (totals.usage.input_tokens == 0 && totals.usage.output_tokens == 0) {
    return cat(out, "tokens unknown, ", shown_duration(took));
  }
  append(out, totals.usage.input_tokens, " tokens in");
  if (totals.usage.cached_tokens > 0) append(out, " (", totals.usage.cached_tokens, " cached)");
  append(out, ", ", totals.usage.output_tokens, " out, ");
  if (totals.cost_usd) append(out, shown_cost(*totals.cost_usd), ", ");
  return cat(out, shown_duration(took));
}

}  // namespace errand::cli
