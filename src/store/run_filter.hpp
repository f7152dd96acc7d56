#pragma once

#include <string_view>

#include "store/store.hpp"

namespace errand {

// The parts of a RunFilter that every store decides row by row.
bool matches_status(const RunFilter& filter, RunStatus status);
// `metadata` is JSON object text; a pair matches a string member that equals it.
bool matches_metadata(const RunFilter& filter, std::string_view metadata);

}  // namespace errand
