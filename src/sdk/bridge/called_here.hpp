#pragma once

#include <functional>

#include <errand/tool.hpp>

#include "tool/tool.hpp"

namespace errand::sdk {

// A tool of the engine as a public tool: each call makes the tool and runs it, with a loop of its
// own, on the thread of the handler.
v1::Tool call_here(const ToolDecl& decl, std::function<ToolPtr()> make);
v1::Tool call_here(const ToolDecl& decl, std::function<ToolPtr(const v1::ToolContext&)> make);

// The same, but runs of this process call the engine's tool itself, on their home and without a
// thread.
v1::Tool engine_tool(const ToolDecl& decl, std::function<ToolPtr()> make);
// Makes the engine's tool behind a public one; null if there is none.
ToolPtr engine_tool_of(const v1::Tool& tool);

// A public tool with what the declaration says of it.
v1::ToolOptions options_of(const ToolDecl& decl);

// What an outcome says to users of the public headers.
v1::ToolResult result_of(ToolOutcome outcome);

}  // namespace errand::sdk
