#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/records.hpp"

namespace errand {

// The sessions of a MemoryStoreData: which run has the turn, which runs wait, and the history. Runs
// are known by their ids only.
class MemorySessions final {
 public:
  struct Session {
    SessionRow row;             // without `entries` and `queued`: see row_of()
    std::deque<RunId> waiting;  // the next one first
    std::vector<SessionEntry> history;

    std::vector<RunId> unfinished() const;  // the run that has the turn, then the waiting ones
  };

  Session* find(const SessionKey& key);
  const Session* find(const SessionKey& key) const;
  // conflict: a session with this id exists.
  Result<void> add(SessionRow row);
  void remove(const SessionKey& key) { sessions_.erase(key); }

  // Why a new run is not created; nothing if take_turn() may follow.
  std::optional<SessionRefusal> refusal_of(const WorkspaceSlug& workspace,
                                           const SessionTurn& turn) const;
  enum class Turn { has_it, waits };
  // Of a new run that was not refused.
  Turn take_turn(const RunRow& run, const SessionTurn& turn);
  // Only the run that has the turn adds to the history.
  bool has_turn(const RunRow& run) const;
  // The end of a run that had the turn or waited for it. Gives the run that gets the turn from it.
  std::optional<RunId> end_turn(const RunRow& run, WallTime at);
  void add_history(const RunRow& run, const std::vector<std::string>& bodies);

  // The last used first.
  std::vector<SessionRow> list(const SessionFilter& filter) const;
  std::int64_t count(const SessionFilter& filter) const;
  std::int64_t count_waiting() const;  // runs without the turn, of all sessions

 private:
  std::map<SessionKey, Session> sessions_;
};

// A session as it is read.
SessionRow row_of(const MemorySessions::Session& session);

}  // namespace errand
