#pragma once

#include <string_view>

namespace errand::json::schema {

// RFC 3339: "2024-02-29", "23:59:60Z" (a leap second only where UTC has them), and both with a T.
bool is_date(std::string_view text);
bool is_time(std::string_view text);
bool is_date_time(std::string_view text);

// RFC 3339, appendix A: "P1DT12H", "P4W".
bool is_duration(std::string_view text);

}  // namespace errand::json::schema
