#pragma once

#include <string_view>

namespace errand::json {

// The text of one member's value in the text of an object, without reading the rest as values.
// Empty if the object has no such member; what is returned for text that is not JSON means nothing.
// A key with escapes in it is not found.
std::string_view member_text(std::string_view object, std::string_view key);

}  // namespace errand::json
