#pragma once

#include <optional>
#include <string>

#include "base/clock.hpp"
#include "run/log/event.hpp"
#include "sdk/internal/run_verbs.hpp"

namespace errand::cli {

// What a run cost by the prices of its model; nothing if they are not all known. Cached tokens have
// their own price, or that of input.
std::optional<double> cost_usd(const RunTotals& totals, const sdk::ModelList& models);

// "$0.0123", "$4.50".
std::string shown_cost(double usd);

// One line: "fast, 2 turns, 1200 tokens in (1000 cached), 80 out, $0.0123, 3.4 s".
std::string summary_of(const RunTotals& totals, const sdk::ModelList& models, milliseconds took);

}  // namespace errand::cli
