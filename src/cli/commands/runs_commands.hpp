#pragma once

#include <string>

#include "cli/show/event_printer.hpp"
#include "run/ids.hpp"
#include "sdk/internal/server_flags.hpp"

namespace errand::cli {

// `errand runs show|cancel|rm|tail`. Each returns the exit code. See runs_list.hpp for the list.

struct RunChoice {
  std::string run;  // see find_run
  Form form = Form::text;
  sdk::ServerFlags server;
};
int show_run(const RunChoice& options);
int cancel_run(const RunChoice& options);
int remove_run(const RunChoice& options);
// Shows the events after `after` until the run ends. Ctrl-C stops watching, not the run.
int tail_run(const RunChoice& options, EventSeq after);

}  // namespace errand::cli
