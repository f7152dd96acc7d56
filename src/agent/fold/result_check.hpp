#pragma once

#include <optional>

#include "agent/fold/state.hpp"
#include "json/schema_cache.hpp"
#include "json/value.hpp"

namespace errand::agent {

// How much the model is shown of a result that does not fit.
inline constexpr std::size_t kMisfitBytesMax = 1024;

// Whether a result is checked against its tool's output schema. Results of MCP servers, and of
// tools that check them themselves, are checked where their structure is known.
bool is_checked(const CallState& call, const OutcomeEntry& outcome);

// A result that was checked against an output schema: a result that does not fit becomes a failure
// that says where. Checked is the structured content, or, without any, the text. May take long.
OutcomeEntry checked_outcome(const json::Object& schema, OutcomeEntry outcome,
                             const std::optional<json::Value>& structured,
                             json::SchemaCache& schemas);

}  // namespace errand::agent
