#pragma once

#include <string>
#include <string_view>

#include "json/value.hpp"

namespace errand::cli {

// Reading answers of a server for display. What is missing, or of another kind, is just empty.

const json::Value* member(const json::Value& value, std::string_view key);
std::string text_of(const json::Value& value, std::string_view key);  // a text, number or flag
json::Array items_of(const json::Value& value, std::string_view key);

}  // namespace errand::cli
