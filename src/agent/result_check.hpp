#pragma once

#include "agent/state.hpp"
#include "json/schema_cache.hpp"

namespace errand::agent {

// Of a result that does not fit, the model is shown so much.
inline constexpr std::size_t kMisfitBytesMax = 1024;

// The outcome of a call, checked against its tool's output schema: a result that does not fit is a
// failure that says where. Results of MCP servers are checked where their structure is known.
OutcomeEntry checked_outcome(const CallState& call, OutcomeEntry outcome,
                             json::SchemaCache& schemas);

}  // namespace errand::agent
