#pragma once

#include <string>
#include <string_view>

namespace errand {

// What a Content-Type says: "text/html" in lower case, and the charset if there is one.
struct ContentType {
  std::string media;
  std::string charset;

  static ContentType parse(std::string_view header);
  friend bool operator==(const ContentType&, const ContentType&) = default;
};

// The charset that the head of an HTML page declares in a meta element; empty if it does not.
std::string declared_charset(std::string_view html);

// The bytes as valid UTF-8 without NUL. A byte order mark counts more than the charset. Without
// either, what is valid UTF-8 is that, and all else windows-1252, as browsers have it; so is a
// charset that is not known. Bytes that mean nothing become U+FFFD.
std::string to_utf8(std::string_view bytes, std::string_view charset);

}  // namespace errand
