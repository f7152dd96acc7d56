#pragma once

#include <vector>

#include <errand/tool.hpp>
#include <errand/toolkit.hpp>

#include "sdk/bridge/handlers.hpp"
#include "tool/tool.hpp"

namespace errand::sdk {

// What a tool says of itself.
ToolDecl decl_of(const v1::Tool& tool);

// Tools of the public headers as the engine and LocalCalls call them. `handlers` outlives them.
ToolPtr bridge_tool(Handlers& handlers, const v1::Tool& tool);
std::vector<ToolPtr> bridge_toolkit(Handlers& handlers, const v1::Toolkit& toolkit);

// Whether both are made of the same public tool, or of copies of it.
bool is_same_tool(const Tool& a, const Tool& b);

// All of them. conflict: two have the same name.
Result<std::vector<ToolPtr>> bridge_tools(Handlers& handlers, const std::vector<v1::Tool>& tools,
                                          const std::vector<v1::Toolkit>& toolkits);

bool has_rules(const std::vector<v1::Tool>& tools, const std::vector<v1::Toolkit>& toolkits);
// The system prompt, and after it what the tools and toolkits say about their use.
std::string with_rules(std::string system_prompt, const std::vector<v1::Tool>& tools,
                       const std::vector<v1::Toolkit>& toolkits);

}  // namespace errand::sdk
