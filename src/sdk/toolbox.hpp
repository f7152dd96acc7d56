#pragma once

#include <vector>

#include "run/tools/tool_set.hpp"
#include "tool/tool.hpp"

// How this process lends its tools to a run.
namespace errand::sdk {

// To a run of a server: as tools that its client answers for. Those of MCP servers and agents go
// under their refs (ServerTools).
ToolSetPtr lend_as_client(const std::vector<ToolPtr>& tools,
                          const std::vector<ToolRef>& servers = {});

// Refs with their text: runs that have the same tools share them.
ToolSetPtr share_with_text(std::vector<ToolRef> refs);

}  // namespace errand::sdk
