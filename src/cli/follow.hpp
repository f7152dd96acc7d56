#pragma once

#include "cli/console.hpp"
#include "cli/event_printer.hpp"
#include "cli/local_calls.hpp"
#include "cli/run_stream.hpp"

namespace errand::cli {

struct FollowParams {
  RunStream& stream;
  Console& console;
  EventPrinter& printer;
  LocalCalls* calls = nullptr;  // who answers the calls of the run; null: somebody else
  EventSeq calls_after = 0;     // those of earlier events are none of its business
};

// Shows a run until it ends. cancelled with the reason kOutputClosed: nobody reads any more.
Task<Result<RunEnd>> follow(FollowParams params);

// Says on stderr how it went, unless all is well; returns the exit code.
int report_end(const Result<RunEnd>& end);

}  // namespace errand::cli
