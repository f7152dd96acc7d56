#pragma once

#include <optional>
#include <string>

#include "cli/credentials.hpp"
#include "cli/event_printer.hpp"

namespace errand::cli {

struct RunOptions {
  std::string prompt;  // "-": stdin
  std::string model;
  std::string system;
  std::string files;  // empty: no tools
  std::optional<int> max_turns;
  Form form = Form::text;
  ServerFlags server;
};

// Creates a run and shows it until it ends; returns the exit code. SIGINT and SIGTERM cancel the
// run first; a second signal ends at once.
int run_command(const RunOptions& options);

}  // namespace errand::cli
