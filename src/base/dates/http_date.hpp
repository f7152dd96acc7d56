#pragma once

#include <optional>
#include <string_view>

#include "base/clock.hpp"

namespace errand {

// A date as HTTP writes it, in the form of today or in one of the two that it had before.
std::optional<WallTime> parse_http_date(std::string_view text);

}  // namespace errand
