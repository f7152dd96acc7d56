#pragma once

#include "cli/command_parts.hpp"

namespace errand::cli {

// `errand run`, `errand chat` and `errand mcp`, which may work without a server.
void add_run(CLI::App& app, ExitCode exit_code);
void add_chat(CLI::App& app, ExitCode exit_code);
void add_mcp(CLI::App& app, ExitCode exit_code);

}  // namespace errand::cli
