#pragma once

#include <cstdint>
#include <string>

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

json::Object to_json(const Usage& usage);
json::Object to_json(const ModelInfo& model);
Usage parse_usage(const json::Value& value);
ModelInfo parse_model_info(const json::Value& value);

}  // namespace errand
