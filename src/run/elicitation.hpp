#pragma once

#include <string>
#include <string_view>

#include "json/value.hpp"

namespace errand {

// Pending calls of this name are elicitations: an MCP server asks the user something in the middle
// of a call. docs/wire/tool-calls.md says how a client answers them.
inline constexpr std::string_view kElicitationTool = "mcp_elicitation";

// A value of a form's field, read from what somebody typed: JSON, yes or no for a boolean, and
// words between commas for a list. What cannot be read is the text itself. `field` is what the form
// says of it; null: nothing.
json::Value form_value(const json::Object* field, const std::string& text);

}  // namespace errand
