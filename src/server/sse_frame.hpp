#pragma once

#include <string>
#include <string_view>

namespace errand::server {

// Appends a stored event line (without its newline) as a server-sent event. The fields come flat
// and once more under "data", because some clients read one place and some the other.
void append_sse_frame(std::string& out, std::string_view line);

}  // namespace errand::server
