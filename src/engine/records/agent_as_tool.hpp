#pragma once

#include "json/value.hpp"
#include "run/tools/tool_decl.hpp"
#include "store/named_records.hpp"

namespace errand::engine {

// A stored agent as a tool that takes a message, for any caller. `body` is the agent's own JSON;
// null: it cannot be read. The tool has neither a name nor annotations yet.
ToolDecl agent_as_tool(const NamedRecord& agent, const json::Object* body);

}  // namespace errand::engine
