#pragma once

#include <vector>

#include "llm/demo/prompt.hpp"
#include "run/tool_decl.hpp"

namespace errand::llm {

// The tool whose name, description and arguments fit the prompt best; the first of equals.
// nullptr: none fits.
const ToolDecl* choose_tool(const std::vector<ToolDecl>& tools, const std::vector<Piece>& pieces);

}  // namespace errand::llm
