#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "json/value.hpp"

namespace errand::json {

// Members of what others have written. Absent, null and of another type are all "nothing", and so
// is any member of nothing: a surprise in it never becomes a failure of ours.
const Object* object_at(const Object* from, std::string_view key);
const Array* array_at(const Object* from, std::string_view key);
std::string_view text_at(const Object* from, std::string_view key);
std::optional<std::int64_t> integer_at(const Object* from, std::string_view key);
bool flag_at(const Object* from, std::string_view key);

}  // namespace errand::json
