#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace errand::cli {

struct StdinRead {
  std::string_view what;          // stdin holds, such as "the prompt"
  std::string_view silence = {};  // what to say of a pipe that is silent for a second; or nothing
  std::size_t bytes_max = std::size_t{4} * 1024 * 1024;
};

// All of stdin. Blocks until stdin ends; at a terminal, says how. invalid_argument: stdin holds
// more than `bytes_max`, or cannot be read.
Result<std::string> read_whole_stdin(StdinRead wanted);

}  // namespace errand::cli
