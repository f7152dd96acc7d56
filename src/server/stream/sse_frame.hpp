#pragma once

#include <string>
#include <string_view>

namespace errand::server {

// A stored event line as a server-sent event: head, members, kMiddle, fields, kEnd. The fields come
// flat and once more under "data", because some clients read one place and some the other.
struct SseFrame {
  static constexpr std::string_view kMiddle = ",\"data\":{";
  static constexpr std::string_view kEnd = "}}\n\n";

  std::string head;
  std::string_view members;  // these two are parts of the line
  std::string_view fields;
};

// The line comes without its newline.
SseFrame to_sse_frame(std::string_view line);
void append_sse_frame(std::string& out, std::string_view line);

}  // namespace errand::server
