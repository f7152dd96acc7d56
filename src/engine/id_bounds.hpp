#pragma once

#include <string_view>

#include "base/clock.hpp"
#include "store/sessions.hpp"

namespace errand::engine {

inline constexpr std::string_view kRunPrefix = "run_";
inline constexpr std::string_view kSessionPrefix = "sess_";

// An id is made a moment after the time that its thing counts as created, or, once a clock was set
// back, that much later. A longer step back hides things from filters by time until it is over.
inline constexpr milliseconds kIdsMayLag{60'000};

// Ids sort by the time that they were made, so that stores find things of a time by their ids.
void set_id_bounds(CreatedBetween& created, std::string_view prefix);

}  // namespace errand::engine
