#pragma once

#include <cstddef>

#include "base/clock.hpp"

namespace errand::mcp {

// A message of a server that is longer is not kept: the call that it answers fails with too_large.
constexpr std::size_t kMessageBytesMax = 16U * 1024 * 1024;

struct ClientLimits {
  milliseconds detect_time = seconds(10);  // for a server to say which era it is of
  milliseconds answer_time = seconds(30);  // for everything but calls of tools
  std::size_t result_bytes_max =
      4U * 1024 * 1024;          // of a tool's result; the rest is cut, with a note
  std::size_t tools_max = 1000;  // beyond, the list is cut
  std::size_t tools_bytes_max = 8U * 1024 * 1024;  // of all tools; beyond, the list is cut
  std::size_t pages_max = 200;
  milliseconds unwatched_time =
      seconds(60);  // how long a list is kept if the server does not report changes
  std::size_t input_rounds_max = 8;              // in which a server asks back during one call
  milliseconds first_pause = milliseconds(250);  // after a failed attempt to connect; doubles
  milliseconds longest_pause = seconds(30);
};

}  // namespace errand::mcp
