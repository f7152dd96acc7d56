#include "base/dates/http_date.hpp"

#include <array>
#include <ctime>
#include <string>

namespace errand {

std::optional<WallTime> parse_http_date(std::string_view text) {
  static constexpr std::array<const char*, 3> kForms = {
      "%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"};
  std::string terminated(text);
  for (const char* form : kForms) {
    std::tm fields{};
    const char* end = strptime(terminated.c_str(), form, &fields);
    if (end && *end == '\0') {
      return from_millis(static_cast<std::int64_t>(timegm(&fields)) * 1000);
    }
  }
  return {};
}

}  // namespace errand
