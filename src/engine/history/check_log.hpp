#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/residency/whole_log.hpp"
#include "run/log/journal.hpp"
#include "store/records.hpp"

// The parts of check.hpp that look at the log alone.
namespace errand::engine {

// A rule of the log, and how the log breaks it.
struct BrokenRule {
  const char* rule;
  std::string sentence;
};

// The order of an object's members does not count.
bool is_same_json(std::string_view a, std::string_view b);

// Numbers, seqs and counts of the segments. Nothing if they are right.
std::optional<BrokenRule> check_segments(const std::vector<SegmentPtr>& segments);

// The first entry that cannot follow those before it. Nothing if the journal can be folded.
std::optional<std::string> check_order(const std::vector<JournalEntry>& entries);

// Whether the events show what the journal says. The entries are in order, as check_order says.
std::vector<BrokenRule> check_events(const std::vector<JournalEntry>& entries,
                                     const std::vector<EventFacts>& events);

}  // namespace errand::engine
