#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/state.hpp"
#include "async/task.hpp"
#include "store/store.hpp"

// How a run of a session meets the session's history.
namespace errand::agent {

// The messages of a history up to an entry, as the model is told them. Files of earlier messages
// are not shown to the model again: their names are added to the text.
Task<Result<std::vector<llm::MessagePtr>>> read_history(Store* store, SessionKey session,
                                                        std::int64_t until);

// What a run that has succeeded adds to the history: the caller's messages and the answer.
std::vector<std::string> history_entries(const State& state);

}  // namespace errand::agent
