#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "mcp/types.hpp"

namespace errand::mcp {

// The arguments that an input schema marks with "x-mcp-header". invalid_argument: a mark that the
// protocol does not allow, which makes the tool unusable over HTTP.
Result<std::vector<HeaderParameter>> find_header_parameters(const json::Object& input_schema);

// The argument as the text of a header; nothing if it is absent or has no such text.
std::optional<std::string> header_value(const HeaderParameter& parameter,
                                        const json::Object& arguments);

// Text as a header may carry it: as it is, or "=?base64?...?=".
std::string to_header_text(std::string_view text);

}  // namespace errand::mcp
