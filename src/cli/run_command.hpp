#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/credentials.hpp"
#include "cli/event_printer.hpp"

namespace errand::cli {

struct RunOptions {
  std::string prompt;  // "-": stdin
  std::string model;
  std::string system;
  std::string files;  // a directory; empty: none
  bool shell = false;
  bool yes = false;  // commands are run without a question
  bool web_fetch = false;
  std::vector<std::string> allow_networks;  // that web_fetch may reach besides public addresses
  std::string output_schema;                // a file; empty: free text
  std::string reasoning;                    // a word or a number; empty: left to the model
  std::optional<int> max_turns;
  Form form = Form::text;
  bool embedded = false;  // without a server, although one may be known
  std::string config;     // of a run without a server
  ServerFlags server;
};

// Creates a run and shows it until it ends; returns the exit code. SIGINT, SIGTERM and SIGHUP
// cancel the run first; a second signal ends at once.
//
// With a server that is named or known it is its client. Otherwise the engine runs in this process,
// on the data directory if one is named, or on a store that ends with it.
int run_command(const RunOptions& options);

}  // namespace errand::cli
