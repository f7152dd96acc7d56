// A run of a session: whether it has the turn, and what was said before it.
#include <utility>

#include "agent/agent_run.hpp"
#include "agent/session_history.hpp"

namespace errand::agent {

// A run that gets the turn while it is in memory is loaded again, and so asks again.
Task<bool> AgentRun::look_for_turn() {
  auto row = co_await around_.store.find_session({key_.workspace, state_->created().session});
  if (row) {
    turn_ = row->current == key_.run ? Turn::here : Turn::elsewhere;
  } else {
    observer_.on_broken(row.error());
  }
  co_return row.has_value();
}

// While the run has the turn, no other run adds to the history.
Task<bool> AgentRun::join_session(TurnEntry* first) {
  const SessionKey session{.workspace = key_.workspace, .session = state_->created().session};
  if (!history_) {
    auto row = co_await around_.store.find_session(session);
    if (!row) {
      observer_.on_broken(row.error());
      co_return false;
    }
    history_ = row->history();
  }
  const std::int64_t entries = history_->entries;
  // A history that does not fit is not read.
  if (!state_->has_room_for(static_cast<std::size_t>(history_->bytes))) {
    cutoff_ = Cutoff::too_long;
    co_return true;
  }
  auto history = co_await read_history(&around_.store, session, entries, around_.histories);
  if (!history) {
    observer_.on_broken(history.error());
    co_return false;
  }
  // If a cancel came meanwhile, the history is read again, or no longer needed.
  if (has_news()) co_return true;
  state_->begin_after(std::move(*history));
  first->history = entries;
  joined_at_ = entries;
  co_return true;
}

}  // namespace errand::agent
