#include "store/sqlite/queries.hpp"

#include "store/sqlite/changes/event_text.hpp"
#include "store/sqlite/changes/rows.hpp"

namespace errand::sqlite {
namespace {

constexpr const char* kFindLog =
    "SELECT log_end, coalesce(merged, 0), coalesce(next, 0) FROM runs "
    "LEFT JOIN merging ON run = id AND next > 0 WHERE runs.workspace = ? AND id = ?";
// The next segments of a log that have a later seq than a given one and numbers from n on: those up
// to the next anchor, or to the log's end. Parameters: the run, the seq, n, which of the two texts
// are wanted, and the end.
constexpr const char* kNextSegments = R"sql(
WITH RECURSIVE stretch(place, previous, n) AS (
  SELECT place, previous, n FROM segments WHERE run = ?1 AND place = coalesce(
    (SELECT place FROM segments INDEXED BY anchors
     WHERE run = ?1 AND last_seq > ?2 AND n >= ?3 AND anchor = 1 ORDER BY last_seq, n LIMIT 1), ?6)
  UNION ALL
  SELECT s.place, s.previous, s.n FROM stretch JOIN segments AS s ON s.place = stretch.previous
  WHERE s.run = ?1 AND s.n = stretch.n - 1 AND s.anchor = 0 AND s.last_seq > ?2 AND s.n >= ?3
)
SELECT last_seq, n, events_count, at, iif(?4, journal, x''), iif(?5, events, x''), place
FROM segments WHERE place IN (SELECT place FROM stretch) AND last_seq > ?2 AND n >= ?3
ORDER BY place
)sql";
constexpr const char* kFindBlob =
    "SELECT bytes FROM runs CROSS JOIN blob_users AS used ON used.run = id "
    "CROSS JOIN blobs ON blobs.workspace = runs.workspace AND blobs.hash = used.hash "
    "WHERE runs.workspace = ? AND id = ? AND used.hash = ?";
// Parameters: the workspace, the slot to start after, the tool's name or an empty text, the status
// and the time.
constexpr const char* kFindPending =
    "SELECT * FROM mail INDEXED BY pending "
    "WHERE workspace = ?1 AND slot > ?2 AND kind = 0 AND filled = 0 AND (?3 = '' OR name = ?3) "
    "AND (?4 = 0 OR (claim_id <> '' AND claimed_until > ?5) = (?4 = 2)) ORDER BY slot LIMIT ?6";
constexpr const char* kFindNamed =
    "SELECT * FROM mail INDEXED BY pending_names "
    "WHERE workspace = ?1 AND slot > ?2 AND kind = 0 AND filled = 0 AND name = ?3 "
    "AND (?4 = 0 OR (claim_id <> '' AND claimed_until > ?5) = (?4 = 2)) ORDER BY slot LIMIT ?6";
constexpr const char* kFindCall =
    "SELECT * FROM mail INDEXED BY pending "
    "WHERE workspace = ?1 AND slot = ?2 AND kind = 0 AND filled = 0 AND (?3 = '' OR name = ?3) "
    "AND (?4 = 0 OR (claim_id <> '' AND claimed_until > ?5) = (?4 = 2)) LIMIT ?6";
static_assert(static_cast<int>(CallFilter::Status::any) == 0 &&
              static_cast<int>(CallFilter::Status::claimed) == 2);
constexpr const char* kAllRuns =
    "SELECT *, (SELECT session FROM session_runs WHERE run = id) FROM runs "
    "WHERE (workspace, id) > (?, ?) ORDER BY workspace, id LIMIT ?";
constexpr const char* kListRecords =
    "SELECT * FROM records WHERE workspace = ? AND kind = ? AND id > ? ORDER BY id LIMIT ?";
constexpr const char* kListKeys = "SELECT * FROM api_keys ORDER BY id";
constexpr const char* kPing = "SELECT value FROM meta WHERE key = 'boot_epoch'";

Segment read_segment(const Rows& rows, std::int64_t n) {
  Segment segment{.last_seq = rows.integer(0),
                  .n = static_cast<std::int32_t>(n),
                  .events_count = static_cast<std::int32_t>(rows.integer(2)),
                  .at = rows.time(3),
                  .journal = rows.text(4),
                  .events = {}};
  segment.events = whole_events(rows.view(5), segment.first_seq());
  return segment;
}

}  // namespace

Queries::Queries(std::unique_ptr<Database> database)
    : database_(std::move(database)),
      lists_(*database_),
      sessions_(*database_),
      begin_(*database_, "BEGIN"),
      end_(*database_, "COMMIT"),
      find_run_(*database_, kRunById),
      find_mail_(*database_, kMailOfRun),
      find_log_(*database_, kFindLog),
      next_segments_(*database_, kNextSegments),
      find_blob_(*database_, kFindBlob),
      find_pending_(*database_, kFindPending),
      find_named_(*database_, kFindNamed),
      find_call_(*database_, kFindCall),
      all_runs_(*database_, kAllRuns),
      find_record_(*database_, kFindRecord),
      list_records_(*database_, kListRecords),
      list_keys_(*database_, kListKeys),
      ping_(*database_, kPing) {}

template <class Read>
auto Queries::at_one_moment(Read read) -> decltype(read()) {
  ERRAND_CHECK(begin_.run());
  auto result = read();
  ERRAND_CHECK(end_.run());
  return result;
}

Result<RunRow> Queries::find(const RunKey& run) {
  Rows rows = find_run_.query(run.workspace, run.run);
  ERRAND_TRY(bool found, rows.next());
  if (!found) return Error(ErrorCode::not_found, "there is no such run");
  return read_run(rows);
}

Result<std::vector<RunRow>> Queries::list(const RunFilter& filter) {
  return at_one_moment([&] { return lists_.list(filter); });
}

Result<std::vector<Mailbox>> Queries::mailboxes(const RunKey& run) {
  return read_mailboxes(find_mail_.query(run.run, run.workspace));
}

Result<Queries::Log> Queries::find_log(const RunKey& run) {
  Rows rows = find_log_.query(run.workspace, run.run);
  ERRAND_TRY(bool found, rows.next());
  if (!found) return Log();
  return Log{.end = rows.integer(0), .merged = rows.integer(1), .next = rows.integer(2)};
}

template <class Take>
Result<void> Queries::each_segment(const RunKey& run, LogPart part, Take take) {
  return at_one_moment([&] { return walk(run, part, take); });
}

template <class Take>
Result<void> Queries::walk(const RunKey& run, LogPart part, Take take) {
  ERRAND_TRY(const Log log, find_log(run));
  for (std::int64_t n = 0, place = 0; place != log.end;) {
    Rows rows =
        next_segments_.query(run.run, part.after, n, part.with_journal, part.with_events, log.end);
    ERRAND_TRY(bool has_row, rows.next());
    if (!has_row) break;
    for (; has_row;) {
      part.after = rows.integer(0) - 1;  // the next segment may have no event of its own
      n = rows.integer(1) + 1;
      place = rows.integer(6);
      if (!take(rows, log.number_of(n - 1))) return {};
      ERRAND_TRY(has_row, rows.next());
    }
  }
  return {};
}

// At least one segment if there is any, then more until `bytes_max` is reached. If journals are
// read, segments with the same seq stay together.
Result<std::vector<SegmentPtr>> Queries::read_segments(const RunKey& run, LogPart part,
                                                       std::size_t bytes_max) {
  std::vector<SegmentPtr> found;
  std::size_t bytes = 0;
  ERRAND_CHECK(each_segment(run, part, [&](const Rows& rows, std::int64_t n) {
    const bool is_full = !found.empty() && bytes >= bytes_max;
    if (is_full && rows.integer(0) > found.back()->last_seq) return false;
    auto segment = std::make_shared<const Segment>(read_segment(rows, n));
    bytes += segment->journal.size() + segment->events.size();
    if (part.with_journal || segment->events_count > 0) found.push_back(std::move(segment));
    return found.empty() || bytes < bytes_max || part.with_journal;
  }));
  return found;
}

Result<std::vector<SegmentPtr>> Queries::read_events(const RunKey& run, EventSeq after,
                                                     std::size_t bytes_max) {
  return read_segments(run, {.after = after, .with_journal = false}, bytes_max);
}

Result<std::vector<SegmentPtr>> Queries::read_log(const RunKey& run, EventSeq after,
                                                  std::size_t bytes_max) {
  return read_segments(run, {.after = after}, bytes_max);
}

Result<std::vector<SegmentPtr>> Queries::read_journal(const RunKey& run, EventSeq after,
                                                      std::size_t bytes_max) {
  return read_segments(run, {.after = after, .with_events = false}, bytes_max);
}

Result<std::vector<Mailbox>> Queries::pending_calls(const CallFilter& filter, StoreTime now) {
  const bool is_one = !filter.slot.empty();
  Statement& find = is_one ? find_call_ : filter.name.empty() ? find_pending_ : find_named_;
  return read_mailboxes(find.query(filter.workspace, is_one ? filter.slot : filter.after,
                                   filter.name, filter.status, now, filter.limit),
                        filter.bytes_max);
}

Result<std::vector<RunRow>> Queries::all_runs(const std::optional<RunKey>& after,
                                              std::size_t limit) {
  const RunKey from = after.value_or(RunKey());
  return read_runs(all_runs_.query(from.workspace, from.run, limit));
}

Result<std::string> Queries::read_blob(const RunKey& run, const std::string& hash) {
  Rows rows = find_blob_.query(run.workspace, run.run, hash);
  ERRAND_TRY(bool found, rows.next());
  if (!found) return Error(ErrorCode::not_found, "the run has no such file");
  return rows.text(0);
}

Result<SessionRow> Queries::find_session(const SessionKey& session) {
  return at_one_moment([&] { return sessions_.find(session); });
}

Result<std::vector<SessionRow>> Queries::list_sessions(const SessionFilter& filter) {
  return at_one_moment([&] { return sessions_.list(filter); });
}

Result<std::int64_t> Queries::count_sessions(const SessionFilter& filter) {
  return at_one_moment([&] { return sessions_.count(filter); });
}

Result<std::int64_t> Queries::count_waiting_for_turn() {
  return at_one_moment([&] { return sessions_.count_waiting(); });
}

Result<std::vector<SessionEntry>> Queries::read_newest_history(const SessionKey& session,
                                                               std::int64_t after,
                                                               std::int64_t until,
                                                               std::size_t bytes_max) {
  return at_one_moment(
      [&] { return sessions_.read_newest_history(session, after, until, bytes_max); });
}

Result<std::vector<SessionEntry>> Queries::read_history(const SessionKey& session,
                                                        std::int64_t after, std::int64_t until,
                                                        std::size_t bytes_max) {
  return at_one_moment([&] { return sessions_.read_history(session, after, until, bytes_max); });
}

Result<std::vector<RunRow>> Queries::session_runs(const SessionKey& session,
                                                  const std::optional<RunId>& before,
                                                  std::size_t limit) {
  return at_one_moment([&] { return sessions_.runs(session, before, limit); });
}

Result<Record> Queries::find_record(const RecordKey& key) {
  Rows rows = find_record_.query(key.workspace, key.kind, key.id);
  ERRAND_TRY(bool found, rows.next());
  if (!found) return Error(ErrorCode::not_found, "there is no such record");
  return read_record(rows);
}

Result<std::vector<Record>> Queries::list_records(const RecordFilter& filter) {
  return read_records(
      list_records_.query(filter.workspace, filter.kind, filter.after, filter.limit),
      filter.bytes_max);
}

Result<std::vector<ApiKeyRow>> Queries::list_keys() {
  return read_api_keys(list_keys_.query());
}

Result<void> Queries::ping() {
  Rows rows = ping_.query();
  ERRAND_TRY(bool found, rows.next());
  if (!found) return Error(ErrorCode::unavailable, "the database has lost its meta row");
  return {};
}

QueryPool::QueryPool(std::string path) : path_(std::move(path)) {}

QueryPool::~QueryPool() = default;

Result<std::unique_ptr<Queries>> QueryPool::take() {
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto queries = std::move(free_.back());
      free_.pop_back();
      return queries;
    }
  }
  ERRAND_TRY(auto database, Database::open(path_, Database::Access::read));
  return std::make_unique<Queries>(std::move(database));
}

void QueryPool::give_back(std::unique_ptr<Queries> queries) {
  if (queries->failed()) return;  // the next call opens the database again
  std::lock_guard lock(mutex_);
  free_.push_back(std::move(queries));
}

}  // namespace errand::sqlite
