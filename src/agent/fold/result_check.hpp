#pragma once

#include <optional>

#include "agent/fold/state.hpp"
#include "json/schema_cache.hpp"
#include "json/value.hpp"

namespace errand::agent {

// Of a result that does not fit, the model is shown so much.
inline constexpr std::size_t kMisfitBytesMax = 1024;

// The outcome of a call, checked against its tool's output schema: a result that does not fit is a
// failure that says where. Checked is the structured content, or, without any, the text. Results
// of MCP servers, and of tools that check them themselves, are checked where their structure is
// known.
OutcomeEntry checked_outcome(const CallState& call, OutcomeEntry outcome,
                             const std::optional<json::Value>& structured,
                             json::SchemaCache& schemas);

}  // namespace errand::agent
