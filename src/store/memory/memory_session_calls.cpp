// The calls of a MemoryStoreData that are about sessions.
#include <algorithm>
#include <utility>

#include "store/memory/memory_tables.hpp"

namespace errand {
namespace {

Error no_such_session() {
  return Error(ErrorCode::not_found, "there is no such session");
}

Mail cancel_of(RunKey run, std::string reason) {
  return {
      .to = std::move(run), .slot = "cancel", .kind = MailKind::cancel, .body = std::move(reason)};
}

}  // namespace

void MemoryStoreData::join_session(StoredRun& run, const SessionTurn& turn, const Sender& sender,
                                   CreateOutcome& outcome) {
  run.row.session = turn.session;
  if (sessions_.take_turn(run.row, turn) == MemorySessions::Turn::has_it) {
    const SessionKey session{.workspace = run.row.workspace, .session = turn.session};
    outcome.history = row_of(*sessions_.find(session)).history();
    return;
  }
  run.row.status = RunStatus::queued;
  outcome.waits_for_turn = true;
  if (turn.when_busy != WhenBusy::interrupt) return;
  const SessionKey key{.workspace = run.row.workspace, .session = turn.session};
  const RunKey current{.workspace = key.workspace, .run = *sessions_.find(key)->row.current};
  const bool is_news =
      mail(cancel_of(current, turn.cancel_reason), sender) == MailOutcome::accepted;
  if (is_news) outcome.interrupted = current.run;
}

std::optional<RunId> MemoryStoreData::leave_session(const StoredRun& run, const Commit& commit) {
  if (run.row.session.empty()) return {};
  auto next = sessions_.end_turn(run.row, commit.segment->at);
  if (!next) return {};
  runs_.at(*next).row.epoch = commit.epoch;
  return next;
}

Result<CreateSessionOutcome> MemoryStoreData::create_session(NewSession session, StoreTime now) {
  const SessionKey key = session.row.key();
  if (const Made* made = find_made(key.workspace, session.idempotency, now)) {
    auto id = SessionId::parse(made->subject);
    const bool is_equal = made->fingerprint == session.idempotency.fingerprint && id &&
                          sessions_.find({.workspace = key.workspace, .session = *id});
    if (!is_equal) return CreateSessionOutcome{.kind = Creation::conflict};
    return CreateSessionOutcome{.kind = Creation::existing, .session = *id};
  }
  ERRAND_CHECK(sessions_.add(std::move(session.row)));
  remember_made(key.workspace, session.idempotency, key.session.str(), now);
  return CreateSessionOutcome{.session = key.session};
}

Result<SessionRow> MemoryStoreData::find_session(const SessionKey& key) const {
  const MemorySessions::Session* session = sessions_.find(key);
  if (!session) return no_such_session();
  return row_of(*session);
}

Result<std::vector<SessionEntry>> MemoryStoreData::read_history(const SessionKey& key,
                                                                std::int64_t after,
                                                                std::int64_t until,
                                                                std::size_t bytes_max) const {
  const MemorySessions::Session* session = sessions_.find(key);
  if (!session) return no_such_session();
  std::vector<SessionEntry> entries;
  std::size_t bytes = 0;
  for (const SessionEntry& entry : session->history) {
    if (entry.n <= after) continue;
    if (entry.n > until) break;
    entries.push_back(entry);
    bytes += entry.body.size();
    if (bytes >= bytes_max) break;
  }
  return entries;
}

Result<std::vector<SessionEntry>> MemoryStoreData::read_newest_history(
    const SessionKey& key, std::int64_t after, std::int64_t until, std::size_t bytes_max) const {
  const MemorySessions::Session* session = sessions_.find(key);
  if (!session) return no_such_session();
  std::vector<SessionEntry> entries;
  std::size_t bytes = 0;
  for (auto entry = session->history.rbegin(); entry != session->history.rend(); ++entry) {
    if (entry->n > until) continue;
    if (entry->n <= after || bytes >= bytes_max) break;
    entries.push_back(*entry);
    bytes += entry->body.size();
  }
  std::reverse(entries.begin(), entries.end());
  return entries;
}

Result<EndedSession> MemoryStoreData::end_session(const SessionKey& key, const std::string& reason,
                                                  const Sender& sender) {
  MemorySessions::Session* session = sessions_.find(key);
  if (!session) return no_such_session();
  EndedSession ended;
  if (session->row.status == SessionStatus::ended) return ended;
  ended.was_active = true;
  session->row.status = SessionStatus::ended;
  session->row.ended_at = sender.wall_now;
  for (const RunId& run : session->unfinished()) {
    const RunKey to{.workspace = key.workspace, .run = run};
    if (find_run(to)->row.format > kRunFormat) continue;
    mail(cancel_of(to, reason), sender);
    ended.cancelled.push_back(run);
  }
  return ended;
}

Result<void> MemoryStoreData::remove_session(const SessionKey& key) {
  const MemorySessions::Session* session = sessions_.find(key);
  if (!session) return no_such_session();
  if (session->row.status != SessionStatus::ended || !session_runs(key, {}, 1).empty()) {
    return Error(ErrorCode::conflict, "the session has not ended, or has runs");
  }
  sessions_.remove(key);
  return {};
}

std::vector<RunRow> MemoryStoreData::session_runs(const SessionKey& key,
                                                  const std::optional<RunId>& before,
                                                  std::size_t limit) const {
  std::vector<RunRow> rows;
  auto newest = before ? runs_.lower_bound(*before) : runs_.end();
  for (auto at = std::make_reverse_iterator(newest); at != runs_.rend(); ++at) {
    if (rows.size() == limit) break;
    const RunRow& row = at->second.row;
    if (row.workspace == key.workspace && row.session == key.session) rows.push_back(row);
  }
  return rows;
}

}  // namespace errand
