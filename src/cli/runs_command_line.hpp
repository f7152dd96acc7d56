#pragma once

#include "cli/command_parts.hpp"

namespace errand::cli {

// `errand runs ...`, `errand calls ...` and `errand sessions ...`.
void add_runs(CLI::App& app, ExitCode exit_code);
void add_calls(CLI::App& app, ExitCode exit_code);
void add_sessions(CLI::App& app, ExitCode exit_code);

}  // namespace errand::cli
