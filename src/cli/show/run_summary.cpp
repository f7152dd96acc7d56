#include "cli/show/run_summary.hpp"

#include <array>
#include <cstdio>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "cli/show/answer_text.hpp"
#include "cli/show/event_printer.hpp"

namespace errand::cli {
namespace {

constexpr double kTokensPerPrice = 1e6;
constexpr double kCostShownMin = 0.0001;
constexpr std::size_t kModelChars = 80;

std::optional<double> price(const json::Value& pricing, std::string_view key) {
  const json::Value* found = member(pricing, key);
  if (!found || !found->is_number()) return {};
  return found->to_number<double>();
}

const json::Value* pricing_of(const json::Value& models, const std::string& id) {
  const json::Value* list = member(models, "models");
  if (!list || !list->is_array()) return nullptr;
  for (const json::Value& model : list->get_array()) {
    if (text_of(model, "id") == id) return member(model, "pricing");
  }
  return nullptr;
}

std::string shown_cost(double usd) {
  if (usd > 0 && usd < kCostShownMin) return "less than $0.0001";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), usd < 1 ? "$%.4f" : "$%.2f", usd);
  return text.data();
}

}  // namespace

std::optional<double> cost_usd(const sdk::RunEnd& end, const json::Value& models) {
  const json::Value* pricing = pricing_of(models, end.model);
  if (!pricing) return {};
  auto input = price(*pricing, "inputPer1MUsd");
  auto output = price(*pricing, "outputPer1MUsd");
  if (!input || !output) return {};
  double cached_price = price(*pricing, "cacheReadPer1MUsd").value_or(*input);
  auto cached = static_cast<double>(end.usage.cached_tokens);
  auto fresh = static_cast<double>(end.usage.input_tokens) - cached;
  auto made = static_cast<double>(end.usage.output_tokens);
  return (fresh * *input + cached * cached_price + made * *output) / kTokensPerPrice;
}

std::string summary_of(const sdk::RunEnd& end, const json::Value& models, milliseconds took) {
  std::string out = end.model.empty() ? "" : cat(clean_line(end.model, kModelChars), ", ");
  append(out, end.turns, end.turns == 1 ? " turn, " : " turns, ", end.usage.input_tokens,
         " tokens in");
  if (end.usage.cached_tokens > 0) append(out, " (", end.usage.cached_tokens, " cached)");
  append(out, ", ", end.usage.output_tokens, " out, ");
  if (auto usd = cost_usd(end, models)) append(out, shown_cost(*usd), ", ");
  return cat(out, shown_duration(took));
}

}  // namespace errand::cli
