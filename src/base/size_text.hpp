#pragma once

#include <cstdint>
#include <string>

namespace errand {

// A number of bytes for people: "12 KB", "1.4 GB".
std::string size_text(std::int64_t bytes);

}  // namespace errand
