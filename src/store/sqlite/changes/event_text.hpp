#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "store/records.hpp"

// How the events of a segment are kept in the database. Most events of a log are a few characters
// that a model has streamed, in a line with ten times as many characters around them. Of such a
// line only the text is kept: what is around it follows from the seq and from a mark. Other lines
// are kept as they are, and so are all of what older programs have written.
namespace errand::sqlite {

// An event is at most this much longer than its stored form.
inline constexpr std::size_t kEventSavedMax = 64;

// `first_seq` is that of the first event.
std::string kept_events(std::string_view events, EventSeq first_seq);
// The same events again, byte by byte. What is kept of several segments in a row may be joined.
std::string whole_events(std::string_view kept, EventSeq first_seq);

}  // namespace errand::sqlite
