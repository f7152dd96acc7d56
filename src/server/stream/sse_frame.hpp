#pragma once

#include <string>
#include <string_view>

#include "base/clock.hpp"

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

// A frame without an id, which is not of the log: the model is asked again after the pause.
std::string retry_frame(std::string_view why, milliseconds pause);

}  // namespace errand::server
