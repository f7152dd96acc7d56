#pragma once

#include <string>
#include <string_view>

#include "json/schema/node.hpp"
#include "json/value.hpp"

namespace errand::json::schema {

// Words for errors. They are read by the model that wrote the value, so that they say what would
// do, and show what was found in a few words.

// "\"Par\"...", "20", "an array of 3 items".
std::string shown(const Value& value);

// A string in quotes, cut to a length that fits a sentence.
std::string quoted(std::string_view text);

// "one of \"c\", \"f\"", or the value itself if there is only one.
std::string constants_phrase(const Constants& constants);

// What a schema expects of a number, string, array, object, or of any value:
// "an integer from 1 to 14", "a string of at most 3 characters or null".
std::string number_phrase(const Node& node);
std::string string_phrase(const Node& node);
std::string array_phrase(const Node& node);
std::string object_phrase(const Node& node);
std::string expectation(const Node& node);

// "\"city\", \"days\"": the names that "properties" mentions.
std::string known_properties(const ObjectRules& rules);

}  // namespace errand::json::schema
