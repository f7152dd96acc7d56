#pragma once

#include "cli/agent/agent_options.hpp"

namespace errand::cli {

// `errand mcp`: serves the tools of a workspace to the MCP client on stdin and stdout, until stdin
// ends. Of the options, those that say where the workspace is count. Returns the exit code.
int mcp_command(const AgentOptions& options);

}  // namespace errand::cli
