#pragma once

#include <string_view>

// What URLs and headers in tool refs and definitions are made of.
namespace errand {

// Whether the text begins with http:// or https://.
bool is_http_url(std::string_view text);
// Whether the text is a token, as RFC 9110 calls it.
bool is_header_name(std::string_view text);
// Whether the text stays within one line.
bool is_header_value(std::string_view text);

}  // namespace errand
