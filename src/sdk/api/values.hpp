#pragma once

#include <errand/json.hpp>
#include <optional>
#include <string_view>

#include "json/value.hpp"

namespace errand::v1::detail {

// A public value as the internal library has it, and back. Nothing is lost either way.
json::Value to_value(const Json& json);
Json from_value(const json::Value& value);

// JSON that a model wrote: of two members with a name, the last one counts. Nothing: it is no JSON.
std::optional<Json> json_of_model(std::string_view text);

}  // namespace errand::v1::detail
