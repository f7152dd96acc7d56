#pragma once

#include <optional>
#include <string>

#include "cli/show/event_printer.hpp"
#include "run/ids.hpp"
#include "sdk/internal/server_flags.hpp"

namespace errand::cli {

// `errand runs fork|export`. Each returns the exit code.

struct ForkOptions {
  std::string run;
  std::optional<EventSeq> from_seq;
  std::optional<std::string> prompt;
  std::string model;  // empty: that of the run
  Form form = Form::text;
  sdk::ServerFlags server;
};
// Prints the id of the new run.
int fork_run(const ForkOptions& options);

struct ExportOptions {
  std::string run;
  std::string output;  // empty: stdout
  bool force = false;  // a file that is there is replaced
  sdk::ServerFlags server;
};
int export_run(const ExportOptions& options);

}  // namespace errand::cli
