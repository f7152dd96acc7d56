#pragma once

namespace errand::cli {

// Reads the command line and runs the command it names; returns the exit code.
int run_command_line(int argc, char** argv);

}  // namespace errand::cli
