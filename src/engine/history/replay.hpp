#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "run/log/run_export.hpp"

namespace errand::engine {

// Where a replay shows something else than the recording.
struct ReplayDifference {
  std::size_t number = 0;  // of the event, counted from 1
  std::string recorded;    // JSON texts; empty where one of them has ended
  std::string replayed;
  std::size_t following = 0;  // events that come after it in the longer of the two
};

struct ReplayReport {
  std::size_t events = 0;  // compared
  std::optional<ReplayDifference> difference;
};

// Plays a run once more, in memory and without time passing: the model says what it said, calls get
// the results they got, and a cancel comes when it came. The events must then be the same. Ids are
// compared by the order in which they appear. A break of the process counts as a break of the
// model's stream; calls that were offered again after it are compared once.
// invalid_argument: the export makes no sense.
Result<ReplayReport> replay(const RunExport& run);

}  // namespace errand::engine
