#pragma once

#include <string_view>

namespace errand::json::schema {

enum class Letters { ascii, unicode };
enum class Reference { absolute, relative };

bool is_ipv4(std::string_view text);
bool is_ipv6(std::string_view text);                    // RFC 4291, without a zone
bool is_hostname(std::string_view text);                // RFC 1123
bool is_email(std::string_view text, Letters letters);  // RFC 5321, RFC 6531 with `unicode`

// RFC 3986, and RFC 3987 with `unicode`.
bool is_uri(std::string_view text, Letters letters, Reference reference);

}  // namespace errand::json::schema
