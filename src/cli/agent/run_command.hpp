#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/agent/agent_options.hpp"
#include "cli/agent/prompt_input.hpp"
#include "cli/show/event_printer.hpp"
#include "run/spec.hpp"

namespace errand::cli {

struct RunOptions {
  std::string prompt;  // "-": stdin
  AgentOptions agent;
  std::string name;                   // for lists; empty: none
  std::vector<std::string> attached;  // files that go with the prompt
  StdinUse stdin_use = StdinUse::joined;
  bool is_detached = false;   // the run is left to the server
  std::string output_schema;  // a file; empty: free text
  Form form = Form::text;
};

// Creates a run and shows it until it ends; returns the exit code. SIGINT, SIGTERM and SIGHUP
// cancel the run first; a second signal ends at once.
int run_command(const RunOptions& options);

// What the flags ask for of an agent, with what stdin holds (see read_prompt). Every error is
// invalid_argument and names the flag.
Result<Spec> make_run_spec(const RunOptions& options, Spec agent);

}  // namespace errand::cli
