#pragma once

#include <string>

#include "base/clock.hpp"
#include "run/log/event.hpp"
#include "sdk/internal/run_verbs.hpp"

namespace errand::cli {

// "$0.0123", "$4.50".
std::string shown_cost(double usd);

// One line: "fast, 2 turns, 1200 tokens in (1000 cached), 80 out, $0.0123, 3.4 s".
std::string summary_of(const RunTotals& totals, milliseconds took);

}  // namespace errand::cli
