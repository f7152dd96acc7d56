#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "json/value.hpp"

namespace errand::llm {

// Members of what vendors send. Absent, null and of another type are all "nothing", and so is any
// member of nothing: a vendor's surprise never becomes a failure of ours.
const json::Object* object_at(const json::Object* from, std::string_view key);
const json::Array* array_at(const json::Object* from, std::string_view key);
std::string_view text_at(const json::Object* from, std::string_view key);
std::optional<std::int64_t> integer_at(const json::Object* from, std::string_view key);
bool flag_at(const json::Object* from, std::string_view key);

// Overwrites `count` if there is a number; never below 0.
void read_tokens(std::int64_t& count, const json::Object* from, std::string_view key);

// One event's data as an object; nothing if it is anything else.
std::optional<json::Object> parse_object(std::string_view text);

}  // namespace errand::llm
