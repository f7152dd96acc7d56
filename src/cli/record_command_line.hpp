#pragma once

#include "cli/command_parts.hpp"

namespace errand::cli {

// `errand agents`, `errand tools`, `errand secrets`, `errand rooms` and `errand keys
// rotate-secret`, with their flags.
void add_agents(CLI::App& app, ExitCode exit_code);
void add_tools(CLI::App& app, ExitCode exit_code);
void add_secrets(CLI::App& app, ExitCode exit_code);
void add_rooms(CLI::App& app, ExitCode exit_code);
void add_room(CLI::App& app, ExitCode exit_code);
void add_rotate_secret(CLI::App& keys, ExitCode exit_code);

}  // namespace errand::cli
