#pragma once

#include <optional>
#include <string_view>

#include "base/clock.hpp"

namespace errand {

// "2026-11-15", "2026-11-15T12:00Z", "2026-11-15T12:00:00.5+01:00"; digits after milliseconds are
// dropped. A date alone is its beginning in UTC. Nothing if the text is none of these.
std::optional<WallTime> parse_iso8601(std::string_view text);

}  // namespace errand
