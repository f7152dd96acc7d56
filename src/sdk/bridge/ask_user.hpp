#pragma once

#include <errand/local.hpp>

#include "sdk/bridge/handlers.hpp"
#include "tool/tool.hpp"

namespace errand::sdk {

// The tool that answers the questions which MCP servers put to the user (kElicitationTool), by
// a function of the program. `handlers` outlives the tool.
ToolPtr ask_user_tool(Handlers& handlers, v1::AskUser ask);

}  // namespace errand::sdk
