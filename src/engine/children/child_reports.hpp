#pragma once

#include <string>
#include <vector>

#include "store/records.hpp"

namespace errand::engine {

// What the caller of a run is told of events with seq > after, in order: what the run says beside
// its calls, which tools it calls, and what it waits for. A segment that holds its events as
// structs, as in a process that reads along, is not parsed.
std::vector<std::string> child_reports(const Segment& segment, EventSeq after);

}  // namespace errand::engine
