#pragma once

#include "cli/show/event_printer.hpp"
#include "cli/show/shown_calls.hpp"
#include "cli/terminal/console.hpp"
#include "sdk/internal/followed_run.hpp"

namespace errand::cli {

struct FollowParams {
  sdk::Following& run;
  Console& console;
  EventPrinter& printer;
  ShownCalls* shown = nullptr;     // notes calls once they are shown
  const Timers* timers = nullptr;  // tells how long the calls of an engine in this process take
};

// Shows a run until it ends. cancelled with the reason kOutputClosed: nobody reads any more.
Task<Result<sdk::RunEnd>> follow(FollowParams params);

// Says how it went, unless all is well; returns the exit code.
int report_end(EventPrinter& printer, const Result<sdk::RunEnd>& end);
// Says why a command cannot do what it was asked; returns `exit_code`.
int report_failure(EventPrinter& printer, const Error& error, int exit_code);

}  // namespace errand::cli
