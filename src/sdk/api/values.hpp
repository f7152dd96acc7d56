#pragma once

#include <errand/json.hpp>

#include "json/value.hpp"

namespace errand::v1::detail {

// A public value as the internal library has it, and back. Nothing is lost either way.
json::Value to_value(const Json& json);
Json from_value(const json::Value& value);

}  // namespace errand::v1::detail
