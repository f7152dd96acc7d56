#pragma once

#include <optional>
#include <string>

#include "agent/fold/state.hpp"
#include "json/schema_cache.hpp"

namespace errand::agent {

// Why a call is answered here, and reaches neither the client nor a tool.
struct Refusal {
  std::string text;                              // the text that the model gets
  std::optional<ToolBudgetExceeded> event = {};  // follows the result
};

// Nothing for a call that may be made. It follows from the call and what came before it, so that it
// is the same for a call that is streamed, finished or recovered.
std::optional<Refusal> refusal_of(const State& state, const CallState& call,
                                  json::SchemaCache& schemas);

// The same without a look at the arguments, which may take long.
std::optional<Refusal> refusal_unseen(const State& state, const CallState& call);

// The text that the model gets for a tool that was removed after the run was bound to it.
std::string gone_tool_text(const std::string& name);

// The text that the model gets for a tool that does not exist.
std::string unknown_tool_text(const State& state, const std::string& name);

}  // namespace errand::agent
