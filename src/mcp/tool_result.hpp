#pragma once

#include <string>
#include <vector>

#include "mcp/types.hpp"

namespace errand::mcp {

// Cuts what is beyond `bytes_max`: text is shortened, anything else left out, and a note at the end
// says so. Structured content that does not fit is left out.
void cut_result(CallToolResult& result, std::size_t bytes_max);

// The names under which a model gets the tools of a server: "<prefix>_<tool>" with only characters
// that every vendor allows, at most 64 of them, and no name twice. The same tools in the same order
// have the same names.
std::vector<std::string> vendor_names(std::string_view prefix, const std::vector<Tool>& tools);

}  // namespace errand::mcp
