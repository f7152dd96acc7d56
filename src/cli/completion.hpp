#pragma once

#include <string>
#include <string_view>

#include "cli/command_info.hpp"

namespace errand::cli {

// A script that completes `root` and everything below it in "bash", "zsh" or "fish": commands,
// flags, the values of flags that have only a few, files and directories, and the ids and names
// that the server knows (`errand completion --values`, with the flags of the line that name the
// server).
std::string completion_script(std::string_view shell, const CommandInfo& root);

}  // namespace errand::cli
