#include "store/sqlite/changes.hpp"

#include <utility>

#include "store/sqlite/rows.hpp"

namespace errand::sqlite {
namespace {

// Commits save the store's clock along with them this often.
constexpr milliseconds kClockInterval{1000};

// From one anchor of a log to the next; a reader goes back over so many segments at most.
constexpr std::int32_t kAnchorDistance = 64;

constexpr const char* kInsertFirstSegment =
    "INSERT OR IGNORE INTO segments "
    "(run, last_seq, n, events_count, at, anchor, previous, journal, events) "
    "VALUES (?, ?, ?, ?, ?, 1, 0, ?, ?)";
constexpr const char* kInsertRun =
    "INSERT INTO runs (workspace, id, status, finished, last_seq, segments, epoch, created_at, "
    "updated_at, name, model_id, metadata, ends_by, keyed_at, log_end) "
    "VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, last_insert_rowid())";
// Inserts none if the log does not end where it is expected to.
constexpr const char* kInsertSegment =
    "INSERT INTO segments "
    "(run, last_seq, n, events_count, at, anchor, previous, journal, events) "
    "SELECT id, ?, segments, ?, ?, ?, log_end, ?, ? FROM runs WHERE workspace = ? AND id = ? "
    "AND epoch = ? AND last_seq = ? AND segments = ? AND finished = 0";
constexpr const char* kAdvanceRun =
    "UPDATE runs SET status = ?, last_seq = ?, segments = segments + 1, updated_at = ?, "
    "log_end = last_insert_rowid() WHERE workspace = ? AND id = ?";
constexpr const char* kEndRun =
    "UPDATE runs SET status = ?, last_seq = ?, segments = segments + 1, updated_at = ?, "
    "log_end = last_insert_rowid(), finished = 1 WHERE workspace = ? AND id = ?";
constexpr const char* kFindLogEnd =
    "SELECT finished, epoch, last_seq FROM runs WHERE workspace = ? AND id = ?";
constexpr const char* kFindClaimable =
    "SELECT * FROM runs INDEXED BY unfinished WHERE finished = 0 AND epoch < ? "
    "ORDER BY id LIMIT ?";
constexpr const char* kSetEpoch = "UPDATE runs SET epoch = ? WHERE workspace = ? AND id = ?";
constexpr const char* kReleaseRun =
    "UPDATE runs INDEXED BY unfinished SET epoch = 0 WHERE id = ? AND epoch = ? AND finished = 0";
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
      pruning_(database, keyed_, mail_, blobs_),
      insert_first_segment_(database, kInsertFirstSegment),
      insert_run_(database, kInsertRun),
      insert_segment_(database, kInsertSegment),
      advance_run_(database, kAdvanceRun),
      end_run_(database, kEndRun),
      find_log_end_(database, kFindLogEnd),
      find_claimable_(database, kFindClaimable),
      set_epoch_(database, kSetEpoch),
      release_run_(database, kReleaseRun),
      insert_api_key_(database, kInsertApiKey),
      find_api_key_(database, kFindApiKey),
      revoke_api_key_(database, kRevokeApiKey),
      save_clock_(database, kSaveClock) {}

Result<CreateOutcome> Changes::create(const NewRun& run) {
  const RunRow& row = run.row;
  const WallTime now = time_.wall_now();
  ERRAND_TRY(auto made, keyed_.find(row.workspace, run.idempotency, now));
  if (made) {
    auto id = RunId::parse(made->subject);
    if (!made->is_equal || !id) return CreateOutcome{.kind = Creation::conflict};
    return CreateOutcome{.kind = Creation::existing, .run = *id};
  }
  ERRAND_CHECK(room_.check());
  ERRAND_CHECK(blobs_.check(run.blobs));
  // The first segment comes first, because its key is the run's id alone: if it is taken, nothing
  // has been written yet.
  ERRAND_CHECK(insert_first_segment_.run(row.id, run.first.last_seq, run.first.n,
                                         run.first.events_count, run.first.at,
                                         Blob{run.first.journal}, Blob{run.first.events}));
  if (database_.changes() == 0) return conflict("a run with this id exists");
  ERRAND_CHECK(insert_run(run, run.idempotency.key.empty() ? WallTime() : now));
  ERRAND_CHECK(keyed_.remember(row.workspace, run.idempotency, row.id.view(), now));
  ERRAND_CHECK(blobs_.keep(row.id, run.blobs));
  return CreateOutcome{.kind = Creation::created, .run = row.id, .epoch = epoch_};
}

Result<void> Changes::insert_run(const NewRun& run, WallTime keyed_at) {
  const RunRow& row = run.row;
  return insert_run_.run(row.workspace, row.id, row.status, is_terminal(row.status),
                         run.first.last_seq, epoch_, row.created_at, row.updated_at, row.name,
                         row.model_id, row.metadata, row.ends_by, keyed_at);
}

Result<void> Changes::append(const AppendItem& item) {
  ERRAND_CHECK(insert_segment(item));
  if (database_.changes() == 0) return refusal(item);
  Statement& update = is_terminal(item.status) ? end_run_ : advance_run_;
  ERRAND_CHECK(
      update.run(item.status, item.segment->last_seq, item.segment->at, item.workspace, item.run));
  return mail_.update(item);
}

Result<void> Changes::insert_segment(const AppendItem& item) {
  const Segment& segment = *item.segment;
  const bool is_anchor = segment.n % kAnchorDistance == 0 || is_terminal(item.status);
  return insert_segment_.run(segment.last_seq, segment.events_count, segment.at, is_anchor,
                             Blob{segment.journal}, Blob{segment.events}, item.workspace, item.run,
                             item.epoch, item.expected_seq, segment.n);
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

Result<MailOutcome> Changes::mail(const Mail& mail) {
  {
    Rows rows = find_log_end_.query(mail.workspace, mail.run);
    ERRAND_TRY(bool found, rows.next());
    if (!found) return MailOutcome::unknown_run;
    if (rows.integer(0) != 0) return MailOutcome::run_ended;
  }
  ERRAND_TRY(MailOutcome outcome, mail_.fill(mail));
  if (outcome == MailOutcome::accepted) ERRAND_CHECK(blobs_.keep(mail.run, mail.blobs));
  return outcome;
}

Result<std::vector<ClaimedRun>> Changes::claim(std::size_t limit, milliseconds grace) {
  ERRAND_TRY(auto rows, read_runs(find_claimable_.query(epoch_, limit)));
  const StoreTime deadline_min = time_.now() + grace;
  std::vector<ClaimedRun> claimed;
  for (RunRow& row : rows) {
    ERRAND_CHECK(set_epoch_.run(epoch_, row.workspace, row.id));
    row.epoch = epoch_;
    ERRAND_TRY(auto mail, mail_.prolong(row.id, deadline_min));
    claimed.push_back({.row = std::move(row), .mail = std::move(mail)});
  }
  return claimed;
}

Result<void> Changes::release(const RunId& run, std::int64_t epoch) {
  ERRAND_CHECK(release_run_.run(run, epoch));
  if (database_.changes() == 0) return conflict("the run is not owned with this epoch");
  return {};
}

Result<PruneOutcome> Changes::prune(const Prune& prune) {
  pruned_ = true;
  return pruning_.step(prune, time_.wall_now());
}

Result<AddKeyOutcome> Changes::add_key(const ApiKeyRow& key, const Idempotency& idempotency) {
  const WallTime now = time_.wall_now();
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
  // If the transaction fails after this, the next one a second later saves it.
  saved_clock_ = now;
  return save_clock_.run(now);
}

}  // namespace errand::sqlite
