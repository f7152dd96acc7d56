#include "store/sqlite/changes/session_changes.hpp"

#include <algorithm>
#include <utility>

#include "store/sqlite/changes/rows.hpp"

namespace errand::sqlite {
namespace {

constexpr const char* kFindSession =
    "SELECT status, turn, entries, bytes, last_used_at, has_labels FROM sessions "
    "WHERE workspace = ? AND id = ?";
constexpr const char* kInsertSession =
    "INSERT OR IGNORE INTO sessions (workspace, id, status, created_at, last_used_at, ended_at, "
    "entries, turn, has_labels) VALUES (?1, ?2, 0, ?3, ?3, NULL, 0, '', ?4)";
static_assert(static_cast<int>(SessionStatus::active) == 0);
constexpr const char* kInsertSettings =
    "INSERT INTO session_settings (workspace, session, name, metadata, spec) "
    "VALUES (?, ?, ?, ?, ?)";
constexpr const char* kInsertLabel =
    "INSERT OR IGNORE INTO session_labels (workspace, key, value, session) VALUES (?, ?, ?, ?)";
constexpr const char* kInsertLabelUse =
    "INSERT OR IGNORE INTO session_label_uses (workspace, key, value, last_used_at, session) "
    "VALUES (?, ?, ?, ?, ?)";
constexpr const char* kFindMetadata =
    "SELECT metadata FROM session_settings WHERE workspace = ? AND session = ?";
constexpr const char* kMoveLabelUse =
    "UPDATE session_label_uses SET last_used_at = ? WHERE workspace = ? AND key = ? "
    "AND value = ? AND last_used_at = ? AND session = ?";
constexpr const char* kMeasureQueue =
    "SELECT count(*), min(0, coalesce(min(place), 0)), max(0, coalesce(max(place), 0)) "
    "FROM session_runs INDEXED BY waiting WHERE workspace = ? AND session = ? AND place <> 0";
constexpr const char* kInsertSessionRun =
    "INSERT INTO session_runs (run, workspace, session, place) VALUES (?, ?, ?, ?)";
constexpr const char* kTakeTurn =
    "UPDATE sessions SET turn = ?, last_used_at = ? WHERE workspace = ? AND id = ?";
constexpr const char* kGiveTurnOn =
    "UPDATE sessions SET turn = ?, entries = ?, bytes = ?, last_used_at = ? "
    "WHERE workspace = ? AND id = ?";
constexpr const char* kSetUsed =
    "UPDATE sessions SET last_used_at = ? WHERE workspace = ? AND id = ?";
// The columns of a run's session that its runs change, and the run that gets the turn next.
constexpr const char* kFindMember =
    "SELECT session, place, entries, bytes, last_used_at, has_labels, "
    "(SELECT run FROM session_runs INDEXED BY waiting WHERE workspace = s.workspace "
    "AND session = s.id AND place <> 0 ORDER BY place LIMIT 1) "
    "FROM session_runs AS m CROSS JOIN sessions AS s "
    "ON s.workspace = m.workspace AND s.id = m.session WHERE run = ? AND m.workspace = ?";
constexpr const char* kFindWaiting =
    "SELECT run FROM session_runs INDEXED BY waiting "
    "WHERE workspace = ? AND session = ? AND place <> 0 ORDER BY place";
constexpr const char* kStopWaiting = "UPDATE session_runs SET place = 0 WHERE run = ?";
constexpr const char* kHandOver = "UPDATE runs SET epoch = ? WHERE workspace = ? AND id = ?";
constexpr const char* kSetHistory =
    "UPDATE sessions SET entries = ?, bytes = ? WHERE workspace = ? AND id = ?";
constexpr const char* kInsertEntry =
    "INSERT INTO session_history (workspace, session, n, run, body) VALUES (?, ?, ?, ?, ?)";
constexpr const char* kEnd =
    "UPDATE sessions SET status = 1, ended_at = ? WHERE workspace = ? AND id = ?";
static_assert(static_cast<int>(SessionStatus::ended) == 1);
constexpr const char* kFindCancellable =
    "SELECT 1 FROM runs WHERE workspace = ? AND id = ? AND finished = 0 AND format <= ?";
constexpr const char* kFindRunOf =
    "SELECT 1 FROM session_runs INDEXED BY runs_of_session WHERE workspace = ? AND session = ? "
    "LIMIT 1";
constexpr const char* kRemoveLabel =
    "DELETE FROM session_labels WHERE workspace = ? AND key = ? AND value = ? AND session = ?";
constexpr const char* kRemoveLabelUse =
    "DELETE FROM session_label_uses WHERE workspace = ? AND key = ? AND value = ? "
    "AND last_used_at = ? AND session = ?";
constexpr const char* kRemoveSettings =
    "DELETE FROM session_settings WHERE workspace = ? AND session = ?";
constexpr const char* kRemoveHistory =
    "DELETE FROM session_history WHERE workspace = ? AND session = ?";
constexpr const char* kRemoveSession = "DELETE FROM sessions WHERE workspace = ? AND id = ?";

}  // namespace

SessionChanges::SessionChanges(Database& database, const Timekeeper& time, MailChanges& mail)
    : database_(database),
      time_(time),
      mail_(mail),
      find_(database, kFindSession),
      insert_(database, kInsertSession),
      insert_settings_(database, kInsertSettings),
      insert_label_(database, kInsertLabel),
      insert_label_use_(database, kInsertLabelUse),
      find_metadata_(database, kFindMetadata),
      move_label_use_(database, kMoveLabelUse),
      measure_queue_(database, kMeasureQueue),
      insert_run_(database, kInsertSessionRun),
      take_turn_(database, kTakeTurn),
      give_turn_on_(database, kGiveTurnOn),
      set_used_(database, kSetUsed),
      find_member_(database, kFindMember),
      find_waiting_(database, kFindWaiting),
      stop_waiting_(database, kStopWaiting),
      hand_over_(database, kHandOver),
      set_history_(database, kSetHistory),
      insert_entry_(database, kInsertEntry),
      end_(database, kEnd),
      find_cancellable_(database, kFindCancellable),
      find_run_of_(database, kFindRunOf),
      remove_label_(database, kRemoveLabel),
      remove_label_use_(database, kRemoveLabelUse),
      remove_settings_(database, kRemoveSettings),
      remove_history_(database, kRemoveHistory),
      remove_(database, kRemoveSession) {}

Result<std::optional<SessionChanges::Found>> SessionChanges::find(const SessionKey& session) {
  Rows rows = find_.query(session.workspace, session.session);
  ERRAND_TRY(bool is_there, rows.next());
  if (!is_there) return std::optional<Found>();
  return std::optional(Found{.status = static_cast<SessionStatus>(rows.integer(0)),
                             .current = rows.id<RunId>(1),
                             .history = {.entries = rows.integer(2), .bytes = rows.integer(3)},
                             .use = {.at = rows.time(4), .has_labels = rows.integer(5) != 0}});
}

Result<bool> SessionChanges::exists(const SessionKey& session) {
  ERRAND_TRY(auto found, find(session));
  return found.has_value();
}

Result<void> SessionChanges::add(const SessionRow& row, const Labels& labels) {
  ERRAND_CHECK(insert_.run(row.workspace, row.id, row.created_at, !labels.empty()));
  if (database_.changes() == 0) {
    return Error(ErrorCode::conflict, "a session with this id exists");
  }
  ERRAND_CHECK(insert_settings_.run(row.workspace, row.id, row.name, row.metadata, Blob{row.spec}));
  for (const auto& [key, value] : labels) {
    ERRAND_CHECK(insert_label_.run(row.workspace, key, value, row.id));
    ERRAND_CHECK(insert_label_use_.run(row.workspace, key, value, row.created_at, row.id));
  }
  return {};
}

Result<Labels> SessionChanges::labels(const SessionKey& session) {
  Rows rows = find_metadata_.query(session.workspace, session.session);
  ERRAND_TRY(bool is_there, rows.next());
  return is_there ? labels_of(rows.view(0)) : Labels();
}

Result<void> SessionChanges::move_in_lists(const SessionKey& session, const Use& last,
                                           WallTime at) {
  if (last.at == at || !last.has_labels) return {};
  ERRAND_TRY(const Labels all, labels(session));
  for (const auto& [key, value] : all) {
    ERRAND_CHECK(move_label_use_.run(at, session.workspace, key, value, last.at, session.session));
  }
  return {};
}

Result<void> SessionChanges::note_use(const SessionKey& session, const Use& last, WallTime at) {
  ERRAND_CHECK(move_in_lists(session, last, at));
  return set_used_.run(at, session.workspace, session.session);
}

Result<SessionChanges::Admission> SessionChanges::admit(const WorkspaceSlug& workspace,
                                                        const SessionTurn& turn) {
  auto refused = [](SessionRefusal why) { return Admission{.refused = why}; };
  ERRAND_TRY(auto found, find({.workspace = workspace, .session = turn.session}));
  if (!found) return refused(SessionRefusal::unknown_session);
  if (found->status == SessionStatus::ended) return refused(SessionRefusal::session_ended);
  if (found->current.empty()) {
    return Admission{.history = found->history, .use = found->use};
  }
  if (turn.when_busy == WhenBusy::reject) return refused(SessionRefusal::session_busy);
  ERRAND_TRY(std::int64_t place, find_place(workspace, turn));
  if (place == 0) return refused(SessionRefusal::queue_full);
  return Admission{.place = place, .current = found->current, .use = found->use};
}

// Runs that wait their turn have places from 1 upwards; runs that interrupt go ahead of them, from
// -1 downwards. Returns 0 if the queue is full.
Result<std::int64_t> SessionChanges::find_place(const WorkspaceSlug& workspace,
                                                const SessionTurn& turn) {
  Rows rows = measure_queue_.query(workspace, turn.session);
  ERRAND_TRY([[maybe_unused]] bool found, rows.next());
  if (static_cast<std::size_t>(rows.integer(0)) >= turn.queued_max) return std::int64_t{0};
  return turn.when_busy == WhenBusy::interrupt ? rows.integer(1) - 1 : rows.integer(2) + 1;
}

Result<void> SessionChanges::join(const NewRun& run, const Admission& admission,
                                  CreateOutcome& outcome) {
  const RunRow& row = run.row;
  const SessionTurn& turn = *run.session;
  ERRAND_CHECK(insert_run_.run(row.id, row.workspace, turn.session, admission.place));
  const SessionKey session{.workspace = row.workspace, .session = turn.session};
  if (admission.place == 0) {
    outcome.history = admission.history;
    ERRAND_CHECK(move_in_lists(session, admission.use, row.created_at));
    return take_turn_.run(row.id, row.created_at, session.workspace, session.session);
  }
  ERRAND_CHECK(note_use(session, admission.use, row.created_at));
  outcome.waits_for_turn = true;
  if (turn.when_busy != WhenBusy::interrupt) return {};
  const RunKey current{.workspace = row.workspace, .run = admission.current};
  ERRAND_TRY(MailOutcome mailed, cancel(current, turn.cancel_reason));
  if (mailed == MailOutcome::accepted) outcome.interrupted = current.run;
  return {};
}

Result<SessionChanges::Member> SessionChanges::find_member(const RunKey& run) {
  Rows rows = find_member_.query(run.run, run.workspace);
  ERRAND_TRY(bool found, rows.next());
  if (!found) return Member();
  return Member{.session = rows.id<SessionId>(0),
                .waits = rows.integer(1) != 0,
                .history = {.entries = rows.integer(2), .bytes = rows.integer(3)},
                .use = {.at = rows.time(4), .has_labels = rows.integer(5) != 0},
                .next = rows.id<RunId>(6)};
}

Result<Appended> SessionChanges::follow(const Commit& commit, const Member& member) {
  if (member.session.empty()) return Appended();
  const SessionKey session{.workspace = commit.key.workspace, .session = member.session};
  const std::vector<std::string>& added = commit.effects.history;
  ERRAND_TRY(const HistorySize history, add_history(commit, session, member.history));
  if (!is_terminal(commit.status)) {
    if (!added.empty()) {
      ERRAND_CHECK(
          set_history_.run(history.entries, history.bytes, session.workspace, session.session));
    }
    return Appended();
  }
  if (member.waits) {
    ERRAND_CHECK(stop_waiting_.run(commit.key.run));
    ERRAND_CHECK(note_use(session, member.use, commit.segment->at));
    return Appended();
  }
  return give_turn_on(commit, member, history);
}

Result<HistorySize> SessionChanges::add_history(const Commit& commit, const SessionKey& session,
                                                HistorySize size) {
  for (const std::string& body : commit.effects.history) {
    size.entries += 1;
    size.bytes += static_cast<std::int64_t>(body.size());
    ERRAND_CHECK(insert_entry_.run(session.workspace, session.session, size.entries, commit.key.run,
                                   Blob{body}));
  }
  return size;
}

Result<Appended> SessionChanges::give_turn_on(const Commit& commit, const Member& member,
                                              HistorySize history) {
  const SessionKey session{.workspace = commit.key.workspace, .session = member.session};
  const WallTime at = commit.segment->at;
  ERRAND_CHECK(move_in_lists(session, member.use, at));
  ERRAND_CHECK(give_turn_on_.run(member.next, history.entries, history.bytes, at, session.workspace,
                                 session.session));
  if (member.next.empty()) return Appended();
  ERRAND_CHECK(stop_waiting_.run(member.next));
  // The process that ends this run drives the next one, because only that process learns of it.
  ERRAND_CHECK(hand_over_.run(commit.epoch, session.workspace, member.next));
  return Appended{.started = member.next};
}

Result<std::vector<RunId>> SessionChanges::waiting(const SessionKey& session) {
  std::vector<RunId> runs;
  Rows rows = find_waiting_.query(session.workspace, session.session);
  for (;;) {
    ERRAND_TRY(bool more, rows.next());
    if (!more) return runs;
    runs.push_back(rows.id<RunId>(0));
  }
}

Result<EndedSession> SessionChanges::end(const SessionKey& session, const std::string& reason) {
  ERRAND_TRY(auto found, find(session));
  if (!found) return Error(ErrorCode::not_found, "there is no such session");
  EndedSession ended;
  if (found->status == SessionStatus::ended) return ended;
  ended.was_active = true;
  ERRAND_CHECK(end_.run(time_.wall_now(), session.workspace, session.session));
  ERRAND_TRY(auto runs, waiting(session));
  if (!found->current.empty()) runs.insert(runs.begin(), found->current);
  for (const RunId& run : runs) {
    ERRAND_TRY(MailOutcome mailed, cancel({.workspace = session.workspace, .run = run}, reason));
    if (mailed != MailOutcome::unknown_run) ended.cancelled.push_back(run);
  }
  return ended;
}

Result<void> SessionChanges::remove(const SessionKey& session) {
  ERRAND_TRY(auto found, find(session));
  if (!found) return Error(ErrorCode::not_found, "there is no such session");
  ERRAND_TRY(bool has_runs, has_row(find_run_of_.query(session.workspace, session.session)));
  if (found->status != SessionStatus::ended || has_runs) {
    return Error(ErrorCode::conflict, "the session has not ended, or has runs");
  }
  ERRAND_TRY(const Labels all, labels(session));
  for (const auto& [key, value] : all) {
    ERRAND_CHECK(remove_label_.run(session.workspace, key, value, session.session));
    ERRAND_CHECK(
        remove_label_use_.run(session.workspace, key, value, found->use.at, session.session));
  }
  ERRAND_CHECK(remove_settings_.run(session.workspace, session.session));
  ERRAND_CHECK(remove_history_.run(session.workspace, session.session));
  return remove_.run(session.workspace, session.session);
}

Result<MailOutcome> SessionChanges::cancel(const RunKey& run, const std::string& reason) {
  {
    Rows rows = find_cancellable_.query(run.workspace, run.run, kRunFormat);
    ERRAND_TRY(bool found, rows.next());
    if (!found) return MailOutcome::unknown_run;
  }
  return mail_.fill({.to = run, .slot = "cancel", .kind = MailKind::cancel, .body = reason});
}

}  // namespace errand::sqlite
