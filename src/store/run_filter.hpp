#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/store.hpp"

namespace errand {

// Pairs that lists are filtered by.
using Labels = std::vector<std::pair<std::string, std::string>>;

// The parts of a filter that stores decide row by row.
bool matches_status(const RunFilter& filter, RunStatus status);
// `metadata` is JSON object text; a pair matches a string member that equals it. Every pair must
// match.
bool matches_metadata(const Labels& wanted, std::string_view metadata);

// The pairs that match some metadata.
Labels labels_of(std::string_view metadata);

}  // namespace errand
