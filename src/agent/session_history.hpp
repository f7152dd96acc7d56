#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/fold/state.hpp"
#include "agent/history_cache.hpp"
#include "async/task.hpp"
#include "run/log/session_message.hpp"
#include "store/store.hpp"

// How a run of a session meets the session's history.
namespace errand::agent {

// How much of a result a session keeps for a tool with `retain`; the rest is cut, with a note.
// Larger arguments are left out. A session that retains all tools keeps them whole.
inline constexpr std::size_t kRetainedBytesMax = 8 * 1024;

// The messages of a history up to an entry, in the form that the model gets, with the calls that
// the session retains. Files of earlier messages are not shown to the model again: their names are
// added to the text. What `cache` knows is not read again (null: all of it is read).
Task<Result<Past>> read_history(Store* store, SessionKey session, std::int64_t until,
                                HistoryCache* cache = nullptr);

// What a run that has succeeded adds to the history: the caller's messages and the answer, which
// brings the calls that are retained.
struct Addition {
  std::vector<llm::MessagePtr> opening;
  HistoryEntry answer;
};
Addition addition_of(const State& state);

struct AddedHistory {
  std::vector<HistoryEntry> entries = {};
  std::vector<std::string> bodies = {};  // of the entries, as the store keeps them
  std::int64_t bytes = 0;                // of the bodies
};
AddedHistory added_history(Addition addition);
// Remembers what a run has added behind `after` entries, for the next run of its session.
void remember_history(HistoryCache* cache, const SessionKey& session, std::int64_t after,
                      AddedHistory added);

}  // namespace errand::agent
