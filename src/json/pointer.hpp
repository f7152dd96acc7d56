#pragma once

#include <string_view>

#include "json/value.hpp"

namespace errand::json {

// The part of `value` that a JSON pointer (RFC 6901) leads to. Null: there is none, or the text is
// not a pointer.
const Value* find_pointer(const Value& value, std::string_view pointer);

}  // namespace errand::json
