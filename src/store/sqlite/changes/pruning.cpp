#include "store/sqlite/changes/pruning.hpp"

#include <algorithm>
#include <utility>

#include "store/sqlite/changes/rows.hpp"

namespace errand::sqlite {
namespace {

// At most this many expired keys are removed in a step.
constexpr std::size_t kKeysMax = 500;
// By then, clients have read the end of a run. The time is longer than the store's clock can fall
// back when a process dies, so that every later run ends after those that are merged already.
constexpr milliseconds kMergedAfter{60'000};
// One page in this many may stay free: new runs use free pages, which is cheaper than moving pages
// to shorten the file.
constexpr std::int64_t kKeptFree = 8;
// This many bytes of a segment cost as much as one more segment.
constexpr std::int64_t kBytesPerCost = 8192;

constexpr const char* kFindEnded =
    "SELECT workspace, id, segments, keyed_at, log_end, metadata, ended_at, format "
    "FROM runs INDEXED BY ended "
    "WHERE finished = 1 AND (ended_at, workspace, id) > (?, ?, ?) AND ended_at < ? "
    "ORDER BY ended_at, workspace, id";
constexpr const char* kFindOne =
    "SELECT workspace, id, segments, keyed_at, log_end, metadata FROM runs "
    "WHERE workspace = ? AND id = ? AND finished = 1 AND format <= ?";
constexpr const char* kRemoveRun = "DELETE FROM runs WHERE workspace = ? AND id = ?";
constexpr const char* kLeaveSession = "DELETE FROM session_runs WHERE run = ?";
constexpr const char* kRemoveRecord =
    "DELETE FROM records WHERE workspace = ? AND kind = ? AND id = ?";
constexpr const char* kInsertDoomed = "INSERT OR IGNORE INTO doomed (run, log_end) VALUES (?, ?)";
constexpr const char* kFindDoomed = "SELECT run, log_end FROM doomed ORDER BY run LIMIT 1";
constexpr const char* kShortenDoomed = "UPDATE doomed SET log_end = ? WHERE run = ?";
constexpr const char* kRemoveDoomed = "DELETE FROM doomed WHERE run = ?";
// Removes the last segments first: as long as the first one exists, no other run gets this id.
// Anchors that no segment leads to were written by an older program, or by merging.
constexpr const char* kRemoveSegment =
    "DELETE FROM segments WHERE place = ? AND run = ? "
    "RETURNING previous, length(journal) + length(events)";
// Moves half a megabyte in a step.
constexpr const char* kVacuum = "PRAGMA incremental_vacuum(128)";
constexpr const char* kRemoveAnchors =
    "DELETE FROM segments WHERE place IN (SELECT place FROM segments INDEXED BY anchors "
    "WHERE run = ? AND anchor = 1 ORDER BY last_seq DESC, n DESC LIMIT ?)";

}  // namespace

Pruning::Pruning(Database& database, KeyedRequests& keyed, BlobChanges& blobs, LabelChanges& labels)
    : database_(database),
      keyed_(keyed),
      blobs_(blobs),
      labels_(labels),
      merging_(database),
      find_ended_(database, kFindEnded),
      find_one_(database, kFindOne),
      remove_run_(database, kRemoveRun),
      leave_session_(database, kLeaveSession),
      remove_record_(database, kRemoveRecord),
      insert_doomed_(database, kInsertDoomed),
      find_doomed_(database, kFindDoomed),
      shorten_doomed_(database, kShortenDoomed),
      remove_doomed_(database, kRemoveDoomed),
      remove_segment_(database, kRemoveSegment),
      remove_anchors_(database, kRemoveAnchors),
      page_count_(database, "PRAGMA page_count"),
      free_count_(database, "PRAGMA freelist_count"),
      vacuum_(database, kVacuum) {}

Result<PruneOutcome> Pruning::step(const Prune& prune, StoreTime now) {
  ERRAND_TRY(std::size_t keys, keyed_.remove_old(now, kKeysMax));
  ERRAND_TRY(std::size_t removed, remove_doomed(prune.segments_max));
  ERRAND_TRY(Found ended, find_ended(prune, prune.segments_max - removed));
  std::size_t runs = 0;
  std::optional<EndedPlace> seen = prune.after;
  for (const EndedRun& run : ended.runs) {
    if (removed >= prune.segments_max) break;
    ERRAND_CHECK(remove_run(run));
    ++runs;
    seen = run.place;
    const std::size_t limit = prune.segments_max - removed;
    Doomed log{.run = run.place.run.run, .log_end = run.log_end};
    ERRAND_TRY(std::size_t count, remove_log(log, limit));
    // A part of the log may be left. Later steps find it here, because the row of the run is gone.
    if (count >= limit) ERRAND_CHECK(insert_doomed_.run(log.run, log.log_end));
    removed += std::min(count, limit);
  }
  ERRAND_TRY(Doomed left, next_doomed());
  ERRAND_TRY(auto merged, merging_.step(now - kMergedAfter, prune.segments_max - removed));
  ERRAND_TRY(bool is_given_back, give_back());
  const bool are_all_gone = runs == ended.runs.size();
  // Behind the last removed run there may be runs that stay.
  if (are_all_gone && ended.seen) seen = std::move(ended.seen);
  const bool is_all_removed = keys < kKeysMax && ended.is_all && are_all_gone && left.run.empty();
  return PruneOutcome{.runs = runs,
                      .is_done = is_all_removed && merged.is_all && is_given_back,
                      .seen = std::move(seen)};
}

Result<bool> Pruning::give_back() {
  auto integer = [](Statement& statement) -> Result<std::int64_t> {
    Rows rows = statement.query();
    ERRAND_TRY(bool found, rows.next());
    return found ? rows.integer(0) : 0;
  };
  ERRAND_TRY(std::int64_t pages, integer(page_count_));
  ERRAND_TRY(std::int64_t free_pages, integer(free_count_));
  if (free_pages * kKeptFree <= pages) return true;
  Rows rows = vacuum_.query();
  for (;;) {
    ERRAND_TRY(bool more, rows.next());
    if (!more) break;
  }
  ERRAND_TRY(std::int64_t left, integer(free_count_));
  // If the vacuum moves nothing, another step would not help.
  return left == free_pages || left * kKeptFree <= pages;
}

Result<Pruning::Found> Pruning::find_ended(const Prune& prune, std::size_t segments_max) {
  Found found;
  std::size_t segments = 0;
  const EndedPlace after = prune.after.value_or(EndedPlace{.ended_at = StoreTime::min()});
  Rows rows =
      find_ended_.query(after.ended_at, after.run.workspace, after.run.run, prune.ended_before);
  for (;;) {
    ERRAND_TRY(bool more, rows.next());
    if (!more) return found;
    if (segments >= segments_max) {
      found.is_all = false;
      return found;
    }
    EndedRun run = read_ended(rows);
    run.place.ended_at = store_time(rows, 6);
    found.seen = run.place;
    if (rows.integer(7) > kRunFormat || prune.spared.contains(run.place.run.run)) {
      // Runs that stay count, too: otherwise a step could look at any number of them.
      ++segments;
      continue;
    }
    segments += static_cast<std::size_t>(rows.integer(2));
    found.runs.push_back(std::move(run));
  }
}

Pruning::EndedRun Pruning::read_ended(const Rows& rows) {
  EndedRun run{.place = {.run = {.workspace = rows.id<WorkspaceSlug>(0), .run = rows.id<RunId>(1)}},
               .keyed_at = {},
               .log_end = rows.integer(4),
               .labels = labels_of(rows.view(5))};
  if (!rows.is_null(3)) run.keyed_at = store_time(rows, 3);
  return run;
}

Result<std::optional<Pruning::EndedRun>> Pruning::find_one(const RunKey& key) {
  Rows rows = find_one_.query(key.workspace, key.run, kRunFormat);
  ERRAND_TRY(bool found, rows.next());
  if (!found) return std::optional<EndedRun>();
  return std::optional(read_ended(rows));
}

Result<std::size_t> Pruning::remove(const WorkspaceSlug& workspace,
                                    const std::vector<RunId>& runs) {
  std::size_t removed = 0;
  for (const RunId& id : runs) {
    ERRAND_TRY(auto run, find_one({.workspace = workspace, .run = id}));
    if (!run) continue;
    ERRAND_CHECK(remove_run(*run));
    // The log is removed in later steps, so that this transaction stays short.
    ERRAND_CHECK(insert_doomed_.run(id, run->log_end));
    ++removed;
  }
  return removed;
}

Result<void> Pruning::remove_run(const EndedRun& run) {
  const RunKey& key = run.place.run;
  ERRAND_CHECK(remove_run_.run(key.workspace, key.run));
  ERRAND_CHECK(leave_session_.run(key.run));
  ERRAND_CHECK(remove_record_.run(key.workspace, kRunRecordKind, key.run));
  ERRAND_CHECK(labels_.remove(key, run.labels));
  if (run.keyed_at) ERRAND_CHECK(keyed_.forget(*run.keyed_at, key.run));
  return merging_.forget(key.run);
}

Result<std::size_t> Pruning::remove_doomed(std::size_t segments_max) {
  std::size_t removed = 0;
  while (removed < segments_max) {
    ERRAND_TRY(Doomed doomed, next_doomed());
    if (doomed.run.empty()) break;
    const std::size_t limit = segments_max - removed;
    const std::int64_t end = doomed.log_end;
    ERRAND_TRY(std::size_t count, remove_log(doomed, limit));
    if (count < limit) {
      ERRAND_CHECK(remove_doomed_.run(doomed.run));
    } else if (doomed.log_end != end) {
      ERRAND_CHECK(shorten_doomed_.run(doomed.log_end, doomed.run));
    }
    removed += std::min(count, limit);  // the last blob may have cost more than was left
  }
  return removed;
}

Result<std::size_t> Pruning::remove_log(Doomed& run, std::size_t segments_max) {
  ERRAND_TRY(std::size_t blobs, blobs_.release(run.run, segments_max));
  if (blobs >= segments_max) return blobs;
  ERRAND_TRY(std::size_t segments, shorten(run, segments_max - blobs));
  return blobs + segments;
}

Result<std::size_t> Pruning::shorten(Doomed& run, std::size_t segments_max) {
  std::size_t count = 0;
  while (run.log_end != 0 && count < segments_max) {
    ERRAND_TRY(count, remove_last_segment(run, count));
  }
  if (count >= segments_max) return count;
  ERRAND_CHECK(remove_anchors_.run(run.run, segments_max - count));
  return count + static_cast<std::size_t>(database_.changes());
}

Result<std::size_t> Pruning::remove_last_segment(Doomed& run, std::size_t count) {
  Rows rows = remove_segment_.query(run.log_end, run.run);
  ERRAND_TRY(bool found, rows.next());
  run.log_end = found ? rows.integer(0) : 0;
  if (!found) return count;
  count += static_cast<std::size_t>(1 + rows.integer(1) / kBytesPerCost);
  ERRAND_CHECK(rows.next());  // a statement with RETURNING is done only at its end
  return count;
}

Result<Pruning::Doomed> Pruning::next_doomed() {
  Rows rows = find_doomed_.query();
  ERRAND_TRY(bool found, rows.next());
  if (!found) return Doomed();
  return Doomed{.run = rows.id<RunId>(0), .log_end = rows.integer(1)};
}

}  // namespace errand::sqlite
