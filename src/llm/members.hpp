#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "json/members.hpp"

namespace errand::llm {

// How all that vendors send is looked at.
using json::array_at;
using json::flag_at;
using json::integer_at;
using json::object_at;
using json::text_at;

// Overwrites `count` if there is a number; never below 0.
void read_tokens(std::int64_t& count, const json::Object* from, std::string_view key);

// One event's data as an object; nothing if it is anything else.
std::optional<json::Object> parse_object(std::string_view text);

}  // namespace errand::llm
