#pragma once

#include <boost/asio/signal_set.hpp>

#include "async/task.hpp"
#include "base/clock.hpp"

namespace errand::cli {

// How commands end that drive runs.

// For what is left to do when the exit code is known.
inline constexpr seconds kCleanUpMax{1};

// Leaves although threads may hang in a call to the system (a dead network disk, a stopped pager).
[[noreturn]] void leave_now(int exit_code);

// Adds the signal of a closed terminal, unless whoever started this process wants it to outlive its
// terminal (nohup).
void add_hangup(asio::signal_set& signals);

}  // namespace errand::cli
