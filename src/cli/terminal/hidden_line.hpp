#pragma once

#include <string>

#include "base/result.hpp"

namespace errand::cli {

// A secret: asked for with `question` on a terminal, which does not show what is typed, or else all
// of stdin. A line break at its end is left out.
Result<std::string> read_hidden_line(const std::string& question);

}  // namespace errand::cli
