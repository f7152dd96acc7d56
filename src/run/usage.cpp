#include "run/usage.hpp"

#include <limits>

#include "json/fields.hpp"

namespace errand {

Usage& Usage::operator+=(const Usage& other) {
  input_tokens += other.input_tokens;
  cached_tokens += other.cached_tokens;
  reasoning_tokens += other.reasoning_tokens;
  output_tokens += other.output_tokens;
  return *this;
}

std::optional<double> cost_usd(const Usage& usage, const Sparse<Pricing>& pricing) {
  constexpr double kTokensPerPrice = 1e6;
  // Every request and every answer has tokens, so none at all means that they were not counted.
  const bool is_counted = usage.input_tokens != 0 || usage.output_tokens != 0;
  if (!is_counted || !pricing) return {};
  if (!pricing->input_per_1m_usd || !pricing->output_per_1m_usd) return {};
  const double input = *pricing->input_per_1m_usd;
  const auto cached = static_cast<double>(usage.cached_tokens);
  const auto fresh = static_cast<double>(usage.input_tokens) - cached;
  const auto made = static_cast<double>(usage.output_tokens);
  return (fresh * input + cached * pricing->cache_read_per_1m_usd.value_or(input) +
          made * *pricing->output_per_1m_usd) /
         kTokensPerPrice;
}

json::Object to_json(const Usage& usage) {
  return {{"inputTokens", usage.input_tokens},
          {"cachedTokens", usage.cached_tokens},
          {"reasoningTokens", usage.reasoning_tokens},
          {"outputTokens", usage.output_tokens}};
}

json::Object to_json(const ModelInfo& model) {
  json::Object out{
      {"id", model.id}, {"provider", model.provider}, {"vendorModelId", model.vendor_model_id}};
  if (!model.reasoning_effort.empty()) out["reasoningEffort"] = model.reasoning_effort;
  return out;
}

json::Object to_json(const Pricing& pricing) {
  json::Object out;
  auto add = [&out](const char* key, std::optional<double> price) {
    if (price) out[key] = *price;
  };
  add("inputPer1MUsd", pricing.input_per_1m_usd);
  add("outputPer1MUsd", pricing.output_per_1m_usd);
  add("cacheReadPer1MUsd", pricing.cache_read_per_1m_usd);
  return out;
}

Pricing parse_pricing(const json::Value& value) {
  auto price = [&value](const char* key) -> std::optional<double> {
    const json::Object* object = value.if_object();
    const json::Value* found = object ? object->if_contains(key) : nullptr;
    if (!found || !found->is_number()) return {};
    return found->to_number<double>();
  };
  return {.input_per_1m_usd = price("inputPer1MUsd"),
          .output_per_1m_usd = price("outputPer1MUsd"),
          .cache_read_per_1m_usd = price("cacheReadPer1MUsd")};
}

Usage parse_usage(const json::Value& value) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  json::Fields in(value, "");
  return {.input_tokens = in.optional_integer("inputTokens", 0, kMax).value_or(0),
          .cached_tokens = in.optional_integer("cachedTokens", 0, kMax).value_or(0),
          .reasoning_tokens = in.optional_integer("reasoningTokens", 0, kMax).value_or(0),
          .output_tokens = in.optional_integer("outputTokens", 0, kMax).value_or(0)};
}

ModelInfo parse_model_info(const json::Value& value) {
  json::Fields in(value, "");
  return {.id = in.optional_text("id").value_or(""),
          .provider = in.optional_text("provider").value_or(""),
          .vendor_model_id = in.optional_text("vendorModelId").value_or(""),
          .reasoning_effort = in.optional_text("reasoningEffort").value_or("")};
}

}  // namespace errand
