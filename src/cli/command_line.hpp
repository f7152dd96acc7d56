#pragma once

#include "cli/command_info.hpp"

namespace errand::cli {

// Reads the command line and runs the command it names; returns the exit code.
int run_command_line(int argc, char** argv);

// The command `errand` with all of its subcommands.
CommandInfo describe_commands();

}  // namespace errand::cli
