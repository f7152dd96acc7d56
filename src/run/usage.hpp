#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/sparse.hpp"
#include "json/value.hpp"

namespace errand {

// Tokens of one model call, or of all calls of a run. `cached` is part of input, `reasoning` of
// output.
struct Usage {
  std::int64_t input_tokens = 0;
  std::int64_t cached_tokens = 0;
  std::int64_t reasoning_tokens = 0;
  std::int64_t output_tokens = 0;

  Usage& operator+=(const Usage& other);
  friend bool operator==(const Usage&, const Usage&) = default;
};

// Which model answered, as results and snapshots name it.
struct ModelInfo {
  std::string id;
  std::string provider;
  std::string vendor_model_id;
  std::string reasoning_effort = {};  // of a run that asked for a level; else empty

  friend bool operator==(const ModelInfo&, const ModelInfo&) = default;
};

// What a model costs, as far as it is known.
struct Pricing {
  std::optional<double> input_per_1m_usd;
  std::optional<double> output_per_1m_usd;
  std::optional<double> cache_read_per_1m_usd;

  friend bool operator==(const Pricing&, const Pricing&) = default;
};

// What the tokens cost in US dollars. Cached tokens have a price of their own, or that of input.
// Nothing if a price is unknown, or if nobody has counted the tokens: a cost is not guessed.
std::optional<double> cost_usd(const Usage& usage, const Sparse<Pricing>& pricing);

json::Object to_json(const Usage& usage);
json::Object to_json(const Pricing& pricing);
Pricing parse_pricing(const json::Value& value);
json::Object to_json(const ModelInfo& model);
Usage parse_usage(const json::Value& value);
ModelInfo parse_model_info(const json::Value& value);

}  // namespace errand
