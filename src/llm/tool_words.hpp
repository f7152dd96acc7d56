#pragma once

#include <string>

#include "run/tool_decl.hpp"

namespace errand::llm {

// A larger output schema is not told.
inline constexpr std::size_t kToldSchemaBytesMax = 4096;

// What a model is told of a tool by vendors that have no place for an output schema: the
// description, and what the tool gives back.
std::string told_description(const ToolDecl& tool);

}  // namespace errand::llm
