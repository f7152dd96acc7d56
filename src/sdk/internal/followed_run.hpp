#pragma once

#include <memory>

#include "sdk/client/following.hpp"
#include "sdk/run_end.hpp"

namespace errand::sdk {

// A run whose events a command reads (Following::next), and whose calls it may answer. Lives on the
// command's loop.
using FollowedRun = std::shared_ptr<Following>;

}  // namespace errand::sdk
