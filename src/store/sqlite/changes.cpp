#include "store/sqlite/changes.hpp"

#include <optional>
#include <utility>

#include "store/sqlite/rows.hpp"

namespace errand::sqlite {
namespace {

constexpr const char* kFindIdempotent =
    "SELECT run, fingerprint FROM idempotency WHERE workspace = ? AND key = ?";
constexpr const char* kInsertIdempotent =
    "INSERT INTO idempotency (workspace, key, run, fingerprint, at) VALUES (?, ?, ?, ?, ?)";
constexpr const char* kInsertRun =
    "INSERT INTO runs (workspace, id, status, finished, last_seq, segments, epoch, created_at, "
    "updated_at, name, model_id, metadata) VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)";
constexpr const char* kInsertFirstSegment =
    "INSERT OR IGNORE INTO segments (run, last_seq, n, events_count, at, journal, events) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kInsertSegment =
    "INSERT INTO segments (run, last_seq, n, events_count, at, journal, events) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kAdvanceRun =
    "UPDATE runs SET status = ?, last_seq = ?, segments = ?, updated_at = ? WHERE workspace = ? "
    "AND id = ? AND epoch = ? AND last_seq = ? AND segments = ? AND finished = 0";
constexpr const char* kEndRun =
    "UPDATE runs SET status = ?, last_seq = ?, segments = ?, updated_at = ?, finished = 1 "
    "WHERE workspace = ? AND id = ? AND epoch = ? AND last_seq = ? AND segments = ? "
    "AND finished = 0";
constexpr const char* kFindLogEnd =
    "SELECT finished, epoch, last_seq FROM runs WHERE workspace = ? AND id = ?";
constexpr const char* kOpenMailbox =
    "INSERT INTO mail (run, slot, kind, name, opened_at, deadline_at, filled, body) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT DO UPDATE SET deadline_at = excluded.deadline_at";
constexpr const char* kCloseMailbox = "DELETE FROM mail WHERE run = ? AND slot = ?";
constexpr const char* kClearMail = "DELETE FROM mail WHERE run = ?";
constexpr const char* kFillMailbox =
    "UPDATE mail SET filled = 1, body = ? WHERE run = ? AND slot = ? AND filled = 0";
constexpr const char* kInsertCancel =
    "INSERT OR IGNORE INTO mail (run, slot, kind, name, opened_at, deadline_at, filled, body) "
    "VALUES (?, ?, ?, '', ?, 0, 1, ?)";
constexpr const char* kFindClaimable =
    "SELECT * FROM runs INDEXED BY unfinished WHERE finished = 0 AND epoch < ? "
    "ORDER BY id LIMIT ?";
constexpr const char* kSetEpoch = "UPDATE runs SET epoch = ? WHERE workspace = ? AND id = ?";
constexpr const char* kReleaseRun =
    "UPDATE runs INDEXED BY unfinished SET epoch = 0 WHERE id = ? AND epoch = ? AND finished = 0";
constexpr const char* kInsertApiKey =
    "INSERT OR IGNORE INTO api_keys (id, workspace, name, hash, prefix, created_at, revoked_at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kRevokeApiKey =
    "UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE workspace = ? AND id = ?";

Error conflict(const char* why) {
  return Error(ErrorCode::conflict, why);
}

}  // namespace

Changes::Changes(Database& database, const Clock& clock, std::int64_t epoch)
    : database_(database),
      clock_(clock),
      epoch_(epoch),
      find_idempotent_(database, kFindIdempotent),
      insert_idempotent_(database, kInsertIdempotent),
      insert_run_(database, kInsertRun),
      insert_first_segment_(database, kInsertFirstSegment),
      insert_segment_(database, kInsertSegment),
      advance_run_(database, kAdvanceRun),
      end_run_(database, kEndRun),
      find_log_end_(database, kFindLogEnd),
      open_mailbox_(database, kOpenMailbox),
      close_mailbox_(database, kCloseMailbox),
      clear_mail_(database, kClearMail),
      fill_mailbox_(database, kFillMailbox),
      insert_cancel_(database, kInsertCancel),
      find_claimable_(database, kFindClaimable),
      set_epoch_(database, kSetEpoch),
      find_mail_(database, kMailOfRun),
      release_run_(database, kReleaseRun),
      insert_api_key_(database, kInsertApiKey),
      revoke_api_key_(database, kRevokeApiKey) {}

Result<CreateOutcome> Changes::create(const NewRun& run) {
  if (!run.idempotency_key.empty()) {
    ERRAND_TRY(auto known, find_idempotent(run));
    if (known) return *known;
  }
  // The first segment comes first, because its key is the run's id alone: if it is taken, nothing
  // has been written yet.
  const RunRow& row = run.row;
  ERRAND_CHECK(insert_segment(insert_first_segment_, row.id, run.first));
  if (database_.changes() == 0) return conflict("a run with this id exists");
  ERRAND_CHECK(insert_run_.run(row.workspace, row.id, row.status, is_terminal(row.status),
                               run.first.last_seq, epoch_, row.created_at, row.updated_at, row.name,
                               row.model_id, row.metadata));
  if (!run.idempotency_key.empty()) {
    ERRAND_CHECK(insert_idempotent_.run(row.workspace, run.idempotency_key, row.id,
                                        Blob{run.fingerprint}, row.created_at));
  }
  return CreateOutcome{.kind = CreateOutcome::Kind::created, .run = row.id, .epoch = epoch_};
}

Result<std::optional<CreateOutcome>> Changes::find_idempotent(const NewRun& run) {
  Rows rows = find_idempotent_.query(run.row.workspace, run.idempotency_key);
  ERRAND_TRY(bool found, rows.next());
  if (!found) return std::optional<CreateOutcome>();
  bool same = rows.view(1) == run.fingerprint;
  return std::optional(
      CreateOutcome{.kind = same ? CreateOutcome::Kind::existing : CreateOutcome::Kind::conflict,
                    .run = rows.id<RunId>(0),
                    .epoch = 0});
}

Result<void> Changes::insert_segment(Statement& insert, const RunId& run, const Segment& segment) {
  return insert.run(run, segment.last_seq, segment.n, segment.events_count, segment.at,
                    Blob{segment.journal}, Blob{segment.events});
}

Result<void> Changes::append(const AppendItem& item) {
  ERRAND_CHECK(update_run(item));
  if (database_.changes() == 0) return refusal(item);
  ERRAND_CHECK(insert_segment(insert_segment_, item.run, *item.segment));
  return update_mail(item);
}

// Changes no row if the log does not end where the item expects it.
Result<void> Changes::update_run(const AppendItem& item) {
  const Segment& segment = *item.segment;
  Statement& update = is_terminal(item.status) ? end_run_ : advance_run_;
  return update.run(item.status, segment.last_seq, segment.n + 1, segment.at, item.workspace,
                    item.run, item.epoch, item.expected_seq, segment.n);
}

Error Changes::refusal(const AppendItem& item) {
  Rows rows = find_log_end_.query(item.workspace, item.run);
  auto found = rows.next();
  if (!found) return std::move(found).error();
  if (!*found) return conflict("there is no such run to append to");
  if (rows.integer(1) != item.epoch) return conflict("the run is owned by somebody else");
  if (rows.integer(2) != item.expected_seq) return conflict("the run's log ends at another seq");
  if (rows.integer(0) != 0) return conflict("the run has ended");
  return conflict("the run's log ends at another segment");
}

Result<void> Changes::update_mail(const AppendItem& item) {
  if (is_terminal(item.status)) return clear_mail_.run(item.run);
  for (const std::string& slot : item.close) {
    ERRAND_CHECK(close_mailbox_.run(item.run, slot));
  }
  for (const Mailbox& box : item.open) {
    ERRAND_CHECK(open_mailbox_.run(item.run, box.slot, box.kind, box.name, box.opened_at,
                                   box.deadline_at, box.filled, Blob{box.body}));
  }
  return {};
}

Result<MailOutcome> Changes::mail(const Mail& mail) {
  {
    Rows rows = find_log_end_.query(mail.workspace, mail.run);
    ERRAND_TRY(bool found, rows.next());
    if (!found) return MailOutcome::unknown_run;
    if (rows.integer(0) != 0) return MailOutcome::run_ended;
  }
  if (mail.kind == MailKind::cancel) {
    ERRAND_CHECK(insert_cancel_.run(mail.run, mail.slot, mail.kind, clock_.now(), Blob{mail.body}));
  } else {
    ERRAND_CHECK(fill_mailbox_.run(Blob{mail.body}, mail.run, mail.slot));
  }
  return database_.changes() == 0 ? MailOutcome::unknown_slot : MailOutcome::accepted;
}

Result<std::vector<ClaimedRun>> Changes::claim(std::size_t limit) {
  ERRAND_TRY(auto claimed, claimable(limit));
  for (ClaimedRun& run : claimed) {
    ERRAND_CHECK(set_epoch_.run(epoch_, run.row.workspace, run.row.id));
    run.row.epoch = epoch_;
    ERRAND_TRY(run.mail, read_mailboxes(find_mail_, run.row.id));
  }
  return claimed;
}

Result<std::vector<ClaimedRun>> Changes::claimable(std::size_t limit) {
  std::vector<ClaimedRun> found;
  Rows rows = find_claimable_.query(epoch_, limit);
  for (;;) {
    ERRAND_TRY(bool more, rows.next());
    if (!more) return found;
    found.push_back({.row = read_run(rows), .mail = {}});
  }
}

Result<void> Changes::release(const RunId& run, std::int64_t epoch) {
  ERRAND_CHECK(release_run_.run(run, epoch));
  if (database_.changes() == 0) return conflict("the run is not owned with this epoch");
  return {};
}

Result<void> Changes::add_key(const ApiKeyRow& key) {
  ERRAND_CHECK(insert_api_key_.run(key.id, key.workspace, key.name, key.hash, key.prefix,
                                   key.created_at, key.revoked_at));
  if (database_.changes() == 0) return conflict("this key exists");
  return {};
}

Result<void> Changes::revoke_key(const WorkspaceSlug& workspace, const KeyId& id, WallTime at) {
  ERRAND_CHECK(revoke_api_key_.run(at, workspace, id));
  if (database_.changes() == 0) return Error(ErrorCode::not_found, "there is no such key");
  return {};
}

}  // namespace errand::sqlite
