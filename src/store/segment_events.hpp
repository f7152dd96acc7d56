#pragma once

#include <string_view>

#include "base/text.hpp"
#include "store/records.hpp"

namespace errand {

// Calls visit(line) for each event line of the segment with seq > after.
template <class Visit>
void for_each_event(const Segment& segment, EventSeq after, Visit visit) {
  std::string_view rest = segment.events;
  for (EventSeq seq = segment.first_seq(); !rest.empty(); ++seq) {
    std::string_view line = take_line(rest);
    if (seq > after) visit(line);
  }
}

}  // namespace errand
