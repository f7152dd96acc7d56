#pragma once

#include <string>
#include <vector>

#include "store/records.hpp"

namespace errand::engine {

// The reports to the caller of a run about events with seq > after, in order: the run's text beside
// its calls, the tools that it calls, and its waits. A segment that holds its events as structs, as
// in a process that reads along, is not parsed.
std::vector<std::string> child_reports(const Segment& segment, EventSeq after);

}  // namespace errand::engine
