#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace errand {

// Base64 as RFC 4648 has it: the standard alphabet, padded, without line breaks.
void append_base64(std::string& out, std::string_view bytes);
std::string to_base64(std::string_view bytes);

// The bytes; nothing if the text is anything but what to_base64 would have made of them.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace errand
