#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "cli/command_info.hpp"

namespace errand::cli {

// Words of a command line that nobody understands. The error names the first wrong flag, else the
// first wrong word, and what may have been meant.
Error unknown_words(const CommandInfo& command, const std::vector<std::string>& words);

// What else is wrong with the words of a command.
Error usage_error(const CommandInfo& command, const std::string& message);

}  // namespace errand::cli
