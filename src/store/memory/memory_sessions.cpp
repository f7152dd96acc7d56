#include "store/memory/memory_sessions.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "store/run_filter.hpp"

namespace errand {
namespace {

bool matches(const SessionFilter& filter, const SessionRow& row) {
  return row.workspace == filter.workspace && filter.status.value_or(row.status) == row.status &&
         filter.created.contains(row.created_at) && matches_metadata(filter.metadata, row.metadata);
}

}  // namespace

SessionRow row_of(const MemorySessions::Session& session) {
  SessionRow row = session.row;
  row.entries = static_cast<std::int64_t>(session.history.size());
  row.history_bytes = 0;
  for (const SessionEntry& entry : session.history) {
    row.history_bytes += static_cast<std::int64_t>(entry.body.size());
  }
  row.queued = static_cast<std::int64_t>(session.waiting.size());
  return row;
}

std::vector<RunId> MemorySessions::Session::unfinished() const {
  std::vector<RunId> runs(waiting.begin(), waiting.end());
  if (row.current) runs.insert(runs.begin(), *row.current);
  return runs;
}

const MemorySessions::Session* MemorySessions::find(const SessionKey& key) const {
  auto found = sessions_.find(key);
  return found == sessions_.end() ? nullptr : &found->second;
}

MemorySessions::Session* MemorySessions::find(const SessionKey& key) {
  return const_cast<Session*>(std::as_const(*this).find(key));
}

Result<void> MemorySessions::add(SessionRow row) {
  const SessionKey key = row.key();
  if (find(key)) return Error(ErrorCode::conflict, "a session with this id exists");
  row.status = SessionStatus::active;
  row.last_used_at = row.created_at;
  row.ended_at = {};
  row.current = {};
  sessions_[key].row = std::move(row);
  return {};
}

std::optional<SessionRefusal> MemorySessions::refusal_of(const WorkspaceSlug& workspace,
                                                         const SessionTurn& turn) const {
  const Session* session = find({.workspace = workspace, .session = turn.session});
  if (!session) return SessionRefusal::unknown_session;
  if (session->row.status == SessionStatus::ended) return SessionRefusal::session_ended;
  if (!session->row.current) return {};
  if (turn.when_busy == WhenBusy::reject) return SessionRefusal::session_busy;
  if (session->waiting.size() >= turn.queued_max) return SessionRefusal::queue_full;
  return {};
}

MemorySessions::Turn MemorySessions::take_turn(const RunRow& run, const SessionTurn& turn) {
  Session* session = find({.workspace = run.workspace, .session = turn.session});
  ERRAND_ASSERT(session);
  session->row.last_used_at = run.created_at;
  if (!session->row.current) {
    session->row.current = run.id;
    return Turn::has_it;
  }
  if (turn.when_busy == WhenBusy::interrupt) {
    session->waiting.push_front(run.id);
  } else {
    session->waiting.push_back(run.id);
  }
  return Turn::waits;
}

bool MemorySessions::has_turn(const RunRow& run) const {
  const Session* session = find({.workspace = run.workspace, .session = run.session});
  return session && session->row.current == run.id;
}

std::optional<RunId> MemorySessions::end_turn(const RunRow& run, WallTime at) {
  Session* session = find({.workspace = run.workspace, .session = run.session});
  if (!session) return {};
  session->row.last_used_at = at;
  if (session->row.current != run.id) {
    std::erase(session->waiting, run.id);
    return {};
  }
  session->row.current = {};
  if (session->waiting.empty()) return {};
  session->row.current = session->waiting.front();
  session->waiting.pop_front();
  return session->row.current;
}

void MemorySessions::add_history(const RunRow& run, const std::vector<std::string>& bodies) {
  if (bodies.empty()) return;
  Session* session = find({.workspace = run.workspace, .session = run.session});
  ERRAND_ASSERT(session);
  for (const std::string& body : bodies) {
    const auto n = static_cast<std::int64_t>(session->history.size()) + 1;
    session->history.push_back({.n = n, .run = run.id, .body = body});
  }
}

std::vector<SessionRow> MemorySessions::list(const SessionFilter& filter) const {
  std::vector<SessionRow> rows;
  for (const auto& [key, session] : sessions_) {
    const bool is_behind = !filter.before || session.row.place() < *filter.before;
    if (is_behind && matches(filter, session.row)) rows.push_back(row_of(session));
  }
  std::sort(rows.begin(), rows.end(),
            [](const SessionRow& a, const SessionRow& b) { return a.place() > b.place(); });
  const std::size_t skipped = std::min(rows.size(), filter.offset);
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(skipped));
  rows.resize(std::min(rows.size(), filter.limit));
  return rows;
}

std::int64_t MemorySessions::count_waiting() const {
  std::size_t count = 0;
  for (const auto& [key, session] : sessions_) count += session.waiting.size();
  return static_cast<std::int64_t>(count);
}

std::int64_t MemorySessions::count(const SessionFilter& filter) const {
  return std::count_if(sessions_.begin(), sessions_.end(), [&filter](const auto& session) {
    return matches(filter, session.second.row);
  });
}

}  // namespace errand
