#pragma once

#include <string>
#include <string_view>

namespace errand {

// Text of programs and servers, made fit for a model and for a terminal.

// Bytes that are not UTF-8 become U+FFFD, one for each.
std::string to_valid_utf8(std::string_view bytes);

// Bytes of `text` that are not part of well-formed UTF-8.
std::size_t count_invalid_utf8(std::string_view text);

// All of the text on one line that shows what it is: line feeds, control characters and those that
// change the direction of writing become visible escapes such as \n, \x1b and \u{202e}.
std::string to_visible_line(std::string_view text);

}  // namespace errand
