#pragma once

#include <string>

#include "cli/agent/agent_options.hpp"
#include "cli/show/event_printer.hpp"

namespace errand::cli {

struct RunOptions {
  std::string prompt;  // "-": stdin
  AgentOptions agent;
  std::string output_schema;  // a file; empty: free text
  Form form = Form::text;
};

// Creates a run and shows it until it ends; returns the exit code. SIGINT, SIGTERM and SIGHUP
// cancel the run first; a second signal ends at once.
int run_command(const RunOptions& options);

}  // namespace errand::cli
