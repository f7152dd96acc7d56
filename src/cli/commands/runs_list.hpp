#pragma once

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "cli/show/event_printer.hpp"
#include "json/value.hpp"
#include "sdk/internal/server_flags.hpp"

namespace errand::cli {

// `errand runs list`.

struct RunsListOptions {
  std::string status;                 // empty: all
  std::vector<std::string> metadata;  // KEY:VALUE pairs that must all match
  std::string agent;                  // only its runs, by its id or name; empty: all
  std::string session;                // only its runs; empty: all
  double since_seconds = 0;           // created at most this long ago; 0: no limit
  std::string before;                 // only runs behind this one; empty: from the latest on
  int limit = 20;
  Form form = Form::text;
  sdk::ServerFlags server;
};
// Returns the exit code.
int list_runs(const RunsListOptions& options);

// What the run was asked last: its prompt, or the last of its messages.
std::string prompt_of(const json::Value& run);

// "12 s", "5 min", "3 h", "2 d": the largest unit alone.
std::string shown_age(milliseconds age);

}  // namespace errand::cli
