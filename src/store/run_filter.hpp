#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/store.hpp"

namespace errand {

// The parts of a RunFilter that stores decide row by row.
bool matches_status(const RunFilter& filter, RunStatus status);
// `metadata` is JSON object text; a pair matches a string member that equals it.
bool matches_metadata(const RunFilter& filter, std::string_view metadata);

// The pairs that match some metadata.
using Labels = std::vector<std::pair<std::string, std::string>>;
Labels labels_of(std::string_view metadata);

}  // namespace errand
