#pragma once

#include <functional>

#include <errand/tool.hpp>

#include "tool/tool.hpp"

namespace errand::sdk {

// A tool of the engine as a public tool: each call makes the tool and runs it, with a loop of its
// own, on the thread of the handler.
v1::Tool call_here(const ToolDecl& decl, std::function<ToolPtr()> make);
v1::Tool call_here(const ToolDecl& decl, std::function<ToolPtr(const v1::ToolContext&)> make);

// A public tool with what the declaration says of it.
v1::ToolOptions options_of(const ToolDecl& decl);

// What an outcome says to users of the public headers.
v1::ToolResult result_of(ToolOutcome outcome);

}  // namespace errand::sdk
