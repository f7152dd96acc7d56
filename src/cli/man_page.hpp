#pragma once

#include <string>

#include "cli/command_info.hpp"

namespace errand::cli {

// The manual page of the program in roff, with every command and every flag.
std::string man_page(const CommandInfo& root);

}  // namespace errand::cli
