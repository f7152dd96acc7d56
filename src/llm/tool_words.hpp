#pragma once

#include <string>

#include "run/tools/tool_decl.hpp"

namespace errand::llm {

// A larger output schema is not told.
inline constexpr std::size_t kToldSchemaBytesMax = 4096;

// The description of a tool for vendors without a place for an output schema: the tool's own
// description, and what the tool returns.
std::string told_description(const ToolDecl& tool);

// The input schema of a tool for vendors that refuse "allOf" at the root: the properties of its
// branches are the root's own. Calls are checked against the schema as it was given.
json::Object flat_input_schema(const ToolDecl& tool);

}  // namespace errand::llm
