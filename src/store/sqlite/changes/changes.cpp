#include "store/sqlite/changes/changes.hpp"

#include <utility>

#include "store/sqlite/changes/event_text.hpp"
#include "store/sqlite/changes/rows.hpp"

namespace errand::sqlite {
namespace {

// Commits store the store's clock, too, this often.
constexpr milliseconds kClockInterval{1000};

// The number of segments from one anchor of a log to the next, and so the most that a reader goes
// back over.
constexpr std::int32_t kAnchorDistance = 64;

// Finds a run with this id in any workspace, including one that is being removed. An INSERT with
// such a condition would cost three times as much: if it reads its own table, SQLite first copies
// the row to a table in memory.
constexpr const char* kFindAnchor =
    "SELECT 1 FROM segments INDEXED BY anchors WHERE run = ? AND anchor = 1 LIMIT 1";
constexpr const char* kInsertRun =
    "INSERT INTO runs (workspace, id, status, finished, last_seq, segments, epoch, created_at, "
    "updated_at, name, model_id, metadata, ends_by, keyed_at, log_end, ended_at, format) "
    "VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, last_insert_rowid(), ?, ?)";
constexpr const char* kInsertSegment =
    "INSERT INTO segments (run, last_seq, n, events_count, at, anchor, previous, journal, events) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
// SQLite leaves the index `outcomes` alone because the statement does not set the status.
constexpr const char* kAdvanceRun =
    "UPDATE runs SET last_seq = ?, segments = ?, updated_at = ?, log_end = last_insert_rowid() "
    "WHERE workspace = ? AND id = ?";
constexpr const char* kSetStatus = "UPDATE runs SET status = ? WHERE workspace = ? AND id = ?";
constexpr const char* kEndRun =
    "UPDATE runs SET status = ?, last_seq = ?, segments = ?, updated_at = ?, "
    "log_end = last_insert_rowid(), finished = 1, ended_at = ? WHERE workspace = ? AND id = ?";
constexpr const char* kFindRun =
    "SELECT finished, epoch, last_seq, segments, format, status, log_end FROM runs "
    "WHERE workspace = ? AND id = ?";
constexpr const char* kInsertApiKey =
    "INSERT OR IGNORE INTO api_keys (id, workspace, name, hash, prefix, created_at, revoked_at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kFindApiKey = "SELECT * FROM api_keys WHERE id = ?";
constexpr const char* kRevokeApiKey =
    "UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE workspace = ? AND id = ?";
constexpr const char* kSaveClock = "UPDATE meta SET value = ? WHERE key = 'clock'";

Error conflict(const char* why) {
  return Error(ErrorCode::conflict, why);
}

}  // namespace

Changes::Changes(Database& database, const Timekeeper& time, std::int64_t epoch,
                 DiskRoom::Limits limits)
    : database_(database),
      time_(time),
      epoch_(epoch),
      saved_clock_(time.now()),
      room_(database, time, std::move(limits)),
      keyed_(database),
      mail_(database, time),
      blobs_(database),
      labels_(database),
      records_(database),
      sessions_(database, time, mail_),
      owners_(database, time, epoch, mail_),
      pruning_(database, keyed_, blobs_, labels_),
      find_anchor_(database, kFindAnchor),
      insert_run_(database, kInsertRun),
      insert_segment_(database, kInsertSegment),
      advance_run_(database, kAdvanceRun),
      set_status_(database, kSetStatus),
      end_run_(database, kEndRun),
      find_run_(database, kFindRun),
      insert_api_key_(database, kInsertApiKey),
      find_api_key_(database, kFindApiKey),
      revoke_api_key_(database, kRevokeApiKey),
      save_clock_(database, kSaveClock) {}

Result<CreateOutcome> Changes::create(const NewRun& run, const Labels& labels) {
  const RunRow& row = run.row;
  const StoreTime now = time_.now();
  // The key is checked before any limit: a repeated request gets its run even if the disk is full
  // or the session has ended.
  ERRAND_TRY(auto made, keyed_.find(row.workspace, run.idempotency, now));
  if (made) {
    auto id = RunId::parse(made->subject);
    if (!made->is_equal || !id) return CreateOutcome{.kind = Creation::conflict};
    return CreateOutcome{.kind = Creation::existing, .run = *id};
  }
  ERRAND_CHECK(room_.check());
  SessionChanges::Admission admission;
  if (run.session) {
    ERRAND_TRY(admission, sessions_.admit(row.workspace, *run.session));
    if (admission.refused) return CreateOutcome{.refused = admission.refused};
  }
  // Bytes that the run takes over from another run may have been removed since the request was
  // prepared.
  ERRAND_CHECK(blobs_.check(row.workspace, run.effects.blobs));
  ERRAND_TRY(bool is_taken, has_log(row.id));
  if (is_taken) return conflict("a run with this id exists");
  // Comes before the row of the run, which takes `log_end` from last_insert_rowid().
  ERRAND_CHECK(insert_segment(row.id, run.first, 0));
  ERRAND_CHECK(insert_run(run, admission.place != 0 ? RunStatus::queued : row.status, now));
  ERRAND_CHECK(keyed_.remember(row.workspace, run.idempotency, row.id.view(), now));
  ERRAND_CHECK(mail_.open(row.key(), run.effects.open));
  ERRAND_CHECK(blobs_.keep(row.key(), run.effects.blobs));
  ERRAND_CHECK(labels_.add(row.key(), labels));
  CreateOutcome outcome{.kind = Creation::created, .run = row.id, .epoch = epoch_};
  if (run.session) ERRAND_CHECK(sessions_.join(run, admission, outcome));
  return outcome;
}

Result<bool> Changes::has_log(const RunId& run) {
  Rows rows = find_anchor_.query(run);
  return rows.next();
}

Result<void> Changes::insert_run(const NewRun& run, RunStatus status, StoreTime now) {
  const RunRow& row = run.row;
  const bool is_finished = is_terminal(status);
  std::optional<StoreTime> keyed_at;
  if (!run.idempotency.key.empty()) keyed_at = now;
  return insert_run_.run(row.workspace, row.id, status, is_finished, run.first.last_seq, epoch_,
                         row.created_at, row.updated_at, row.name, row.model_id, row.metadata,
                         row.ends_by, keyed_at, is_finished ? now : StoreTime(), row.format);
}

Result<Appended> Changes::append(const Commit& commit) {
  ERRAND_TRY(const auto head, find_head(commit.key));
  if (const auto refused = refusal(head, commit)) return Appended{.refused = refused};
  auto mail = MailChanges::AtEnd::nothing;
  if (is_terminal(commit.status)) {
    ERRAND_TRY(mail, mail_.at_end(commit));
  }
  if (mail == MailChanges::AtEnd::unread_cancel) {
    return Appended{.refused = CommitRefusal::mail_waiting};
  }
  // Only these commits change the session; all others save the lookup.
  SessionChanges::Member member;
  if (is_terminal(commit.status) || !commit.effects.history.empty()) {
    ERRAND_TRY(member, sessions_.find_member(commit.key));
  }
  ERRAND_CHECK(check_effects(commit, member));
  // Comes before the row of the run, as in create().
  ERRAND_CHECK(insert_segment(commit.key.run, *commit.segment, head->log_end));
  ERRAND_CHECK(is_terminal(commit.status) ? end(commit, mail) : advance(commit, head->status));
  ERRAND_CHECK(blobs_.keep(commit.key, commit.effects.blobs));
  return sessions_.follow(commit, member);
}

Result<void> Changes::check_effects(const Commit& commit, const SessionChanges::Member& member) {
  if (!commit.effects.history.empty() && !member.has_turn()) {
    return Error(ErrorCode::internal, "a run without the turn adds to the history of a session");
  }
  return blobs_.check(commit.key.workspace, commit.effects.blobs);
}

Result<void> Changes::insert_segment(const RunId& run, const Segment& segment,
                                     std::int64_t previous) {
  const bool is_anchor = segment.n % kAnchorDistance == 0;
  const std::string events = kept_events(segment.events, segment.first_seq());
  return insert_segment_.run(run, segment.last_seq, segment.n, segment.events_count, segment.at,
                             is_anchor, previous, Blob{segment.journal}, Blob{events});
}

Result<void> Changes::advance(const Commit& commit, RunStatus status) {
  const Segment& segment = *commit.segment;
  ERRAND_CHECK(advance_run_.run(segment.last_seq, segment.n + 1, segment.at, commit.key.workspace,
                                commit.key.run));
  if (commit.status != status) {
    ERRAND_CHECK(set_status_.run(commit.status, commit.key.workspace, commit.key.run));
  }
  return mail_.update(commit);
}

Result<void> Changes::end(const Commit& commit, MailChanges::AtEnd mail) {
  const Segment& segment = *commit.segment;
  ERRAND_CHECK(end_run_.run(commit.status, segment.last_seq, segment.n + 1, segment.at, time_.now(),
                            commit.key.workspace, commit.key.run));
  if (mail == MailChanges::AtEnd::nothing) return {};
  return mail_.clear(commit.key.run);
}

Result<std::optional<Changes::Head>> Changes::find_head(const RunKey& run) {
  Rows rows = find_run_.query(run.workspace, run.run);
  ERRAND_TRY(bool found, rows.next());
  if (!found) return std::optional<Head>();
  return std::optional(Head{.is_finished = rows.integer(0) != 0,
                            .epoch = rows.integer(1),
                            .last_seq = rows.integer(2),
                            .segments = rows.integer(3),
                            .format = rows.integer(4),
                            .status = static_cast<RunStatus>(rows.integer(5)),
                            .log_end = rows.integer(6)});
}

std::optional<CommitRefusal> Changes::refusal(const std::optional<Head>& head,
                                              const Commit& commit) {
  if (!head || head->epoch != commit.epoch) return CommitRefusal::stale_epoch;
  if (head->format > kRunFormat) return CommitRefusal::newer_format;
  const bool is_at_end = !head->is_finished && head->last_seq == commit.expected_seq &&
                         head->segments == commit.segment->n;
  if (!is_at_end) return CommitRefusal::not_at_end;
  return {};
}

Result<MailOutcome> Changes::mail(const Mail& mail) {
  ERRAND_TRY(const auto head, find_head(mail.to));
  if (!head) return MailOutcome::unknown_run;
  if (head->format > kRunFormat) return MailOutcome::newer_format;
  if (head->is_finished) return MailOutcome::run_ended;
  if (mail.owner_epoch.value_or(head->epoch) != head->epoch) return MailOutcome::stale_epoch;
  ERRAND_TRY(MailOutcome outcome, mail_.fill(mail));
  if (outcome == MailOutcome::accepted) ERRAND_CHECK(blobs_.keep(mail.to, mail.effects.blobs));
  return outcome;
}

Result<void> Changes::leave() {
  ERRAND_CHECK(owners_.leave());
  return save_clock(Saving::always);
}

Result<RecordsOutcome> Changes::change_records(const std::vector<RecordChange>& changes) {
  return records_.change(changes, time_.wall_now());
}

Result<CreateSessionOutcome> Changes::create_session(const NewSession& session,
                                                     const Labels& labels) {
  const SessionKey key = session.row.key();
  const StoreTime now = time_.now();
  ERRAND_TRY(auto made, keyed_.find(key.workspace, session.idempotency, now));
  if (made) {
    const SessionKey known{.workspace = key.workspace,
                           .session = SessionId::parse(made->subject).value_or(SessionId())};
    ERRAND_TRY(bool is_there, sessions_.exists(known));
    if (!made->is_equal || !is_there) return CreateSessionOutcome{.kind = Creation::conflict};
    return CreateSessionOutcome{.kind = Creation::existing, .session = known.session};
  }
  ERRAND_CHECK(room_.check());
  ERRAND_CHECK(sessions_.add(session.row, labels));
  ERRAND_CHECK(keyed_.remember(key.workspace, session.idempotency, key.session.view(), now));
  return CreateSessionOutcome{.kind = Creation::created, .session = key.session};
}

Result<AddKeyOutcome> Changes::add_key(const ApiKeyRow& key, const Idempotency& idempotency) {
  const StoreTime now = time_.now();
  ERRAND_TRY(auto made, keyed_.find(key.workspace, idempotency, now));
  if (made) return find_made_key(*made);
  ERRAND_CHECK(insert_api_key_.run(key.id, key.workspace, key.name, key.hash, key.prefix,
                                   key.created_at, key.revoked_at));
  if (database_.changes() == 0) return conflict("this key exists");
  ERRAND_CHECK(keyed_.remember(key.workspace, idempotency, key.id.view(), now));
  return AddKeyOutcome{.kind = Creation::created, .key = key};
}

Result<AddKeyOutcome> Changes::find_made_key(const KeyedRequests::Made& made) {
  if (!made.is_equal) return AddKeyOutcome{.kind = Creation::conflict};
  Rows rows = find_api_key_.query(made.subject);
  ERRAND_TRY(bool found, rows.next());
  if (!found) return AddKeyOutcome{.kind = Creation::conflict};
  return AddKeyOutcome{.kind = Creation::existing, .key = read_api_key(rows)};
}

Result<void> Changes::revoke_key(const WorkspaceSlug& workspace, const KeyId& id, WallTime at) {
  ERRAND_CHECK(revoke_api_key_.run(at, workspace, id));
  if (database_.changes() == 0) return Error(ErrorCode::not_found, "there is no such key");
  return {};
}

Result<void> Changes::save_clock(Saving saving) {
  const StoreTime now = time_.now();
  const milliseconds age_min = saving == Saving::if_old ? kClockInterval : milliseconds(1);
  if (now - saved_clock_ < age_min) return {};
  // If the transaction fails after this, one a second later stores the clock.
  saved_clock_ = now;
  return save_clock_.run(now);
}

}  // namespace errand::sqlite
