#pragma once

#include <errand/json.hpp>

namespace errand::v1::detail {

// Models send "3" for 3 and JSON in a string. Replaces a text by what the schema asks for in its
// place, where the schema takes no text there and nothing is lost: "3" by 3, "true" by true, "null"
// by null, the JSON of an array or object by its value. "3.9" is no integer, and stays; so does a
// text with a number, at any depth, that a double would round. What does not fit stays as it is,
// for the validation to refuse.
Json coerce_to(const Json& schema, Json value);

// A required member that is missing and may be null is null.
Json with_nulls(const Json& schema, Json arguments);
// Whether there are arguments that with_nulls changes.
bool adds_nulls(const Json& schema);

// Removes members of objects that the schema does not know and does not take.
Json without_unknown_members(const Json& schema, Json value);

}  // namespace errand::v1::detail
