#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/fold/state.hpp"
#include "engine/history/check.hpp"

namespace errand::engine {

// Entries of a session's history, behind the first `after` ones.
struct ToldHistory {
  std::int64_t after = 0;
  std::vector<std::string> bodies = {};
};

// What the logs of the runs of sessions say of the sessions: their histories, and which run has the
// turn. Takes the runs one by one, and compares when it has seen them all. Runs that were removed
// may have left entries, so only entries of runs that it has seen are judged.
class SessionsCheck final {
 public:
  // A run whose log can be read. `told` are the entries that it has added to the history.
  Task<Result<std::optional<Finding>>> add(Store* store, RunRow row, const agent::State* state,
                                           ToldHistory told);
  // The rest, once all runs are there.
  Task<Result<std::vector<Finding>>> findings(Store* store);

 private:
  struct Seen {
    std::set<RunId> silent = {};    // runs that have added nothing
    std::vector<RunId> begun = {};  // unfinished runs that have had the turn
    std::set<RunId> waiting = {};   // unfinished runs that have not begun
  };
  static Task<Result<std::optional<Finding>>> check_history(Store* store, SessionKey session,
                                                            const Seen* seen);
  static Task<Result<std::optional<Finding>>> check_turn(Store* store, SessionKey session,
                                                         const Seen* seen);

  std::map<SessionKey, Seen> seen_;
};

}  // namespace errand::engine
