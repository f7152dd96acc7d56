#pragma once

#include <string>
#include <string_view>

namespace errand {

// What servers, models and tools say is shown on the user's terminal, which obeys control
// characters. These functions take that power away.

bool is_utf8(std::string_view text);

// Line feeds and tabs stay, carriage returns go, every other control character (C0, DEL, C1)
// becomes its visible escape such as \x1b, and bytes that are not UTF-8 become U+FFFD.
std::string clean_text(std::string_view text);

// The same on one line of at most `chars_max` characters; what is longer ends with "...".
// Characters that turn the direction of a line become visible too: what follows on the line is
// ours.
std::string clean_line(std::string_view text, std::size_t chars_max);

// JSON text with DEL and the C1 controls escaped too, which JSON itself would let pass.
std::string escape_json_controls(std::string_view json);

}  // namespace errand
