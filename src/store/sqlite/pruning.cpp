#include "store/sqlite/pruning.hpp"

#include <algorithm>

#include "store/sqlite/rows.hpp"

namespace errand::sqlite {
namespace {

// So many keys that are over go in a step.
constexpr std::size_t kKeysMax = 500;

constexpr const char* kFindEnded =
    "SELECT workspace, id, segments, keyed_at, log_end, metadata FROM runs INDEXED BY ended "
    "WHERE finished = 1 AND ended_at < ? AND format <= ? ORDER BY ended_at, workspace, id";
constexpr const char* kRemoveRun = "DELETE FROM runs WHERE workspace = ? AND id = ?";
constexpr const char* kInsertDoomed = "INSERT OR IGNORE INTO doomed (run, log_end) VALUES (?, ?)";
constexpr const char* kFindDoomed = "SELECT run, log_end FROM doomed ORDER BY run LIMIT 1";
constexpr const char* kShortenDoomed = "UPDATE doomed SET log_end = ? WHERE run = ?";
constexpr const char* kRemoveDoomed = "DELETE FROM doomed WHERE run = ?";
// The last ones first: as long as the first one is there, no other run gets this id. Anchors that
// no segment leads to are those that an older program has written, and what was merged.
constexpr const char* kRemoveSegment =
    "DELETE FROM segments WHERE place = ? AND run = ? RETURNING previous";
constexpr const char* kRemoveAnchors =
    "DELETE FROM segments WHERE place IN (SELECT place FROM segments INDEXED BY anchors "
    "WHERE run = ? AND anchor = 1 ORDER BY last_seq DESC, n DESC LIMIT ?)";

bool is_spared(const Prune& prune, const RunId& run) {
  return std::find(prune.spared.begin(), prune.spared.end(), run) != prune.spared.end();
}

}  // namespace

Pruning::Pruning(Database& database, KeyedRequests& keyed, BlobChanges& blobs, LabelChanges& labels)
    : database_(database),
      keyed_(keyed),
      blobs_(blobs),
      labels_(labels),
      find_ended_(database, kFindEnded),
      remove_run_(database, kRemoveRun),
      insert_doomed_(database, kInsertDoomed),
      find_doomed_(database, kFindDoomed),
      shorten_doomed_(database, kShortenDoomed),
      remove_doomed_(database, kRemoveDoomed),
      remove_segment_(database, kRemoveSegment),
      remove_anchors_(database, kRemoveAnchors) {}

Result<PruneOutcome> Pruning::step(const Prune& prune, StoreTime now) {
  ERRAND_TRY(std::size_t keys, keyed_.remove_old(now, kKeysMax));
  ERRAND_TRY(std::size_t removed, remove_doomed(prune.segments_max));
  ERRAND_TRY(Found ended, find_ended(prune, prune.segments_max - removed));
  for (const EndedRun& run : ended.runs) {
    ERRAND_CHECK(remove_run(run));
    const std::size_t limit = prune.segments_max - removed;
    Doomed log{.run = run.key.run, .log_end = run.log_end};
    ERRAND_TRY(std::size_t count, remove_log(log, limit));
    if (count >= limit) ERRAND_CHECK(insert_doomed_.run(log.run, log.log_end));
    removed += std::min(count, limit);
  }
  ERRAND_TRY(Doomed left, next_doomed());
  return PruneOutcome{.runs = ended.runs.size(),
                      .is_done = keys < kKeysMax && ended.is_all && left.run.empty()};
}

Result<Pruning::Found> Pruning::find_ended(const Prune& prune, std::size_t segments_max) {
  Found found;
  std::size_t segments = 0;
  Rows rows = find_ended_.query(prune.ended_before, kRunFormat);
  for (;;) {
    ERRAND_TRY(bool more, rows.next());
    if (!more) return found;
    const RunKey key{.workspace = rows.id<WorkspaceSlug>(0), .run = rows.id<RunId>(1)};
    if (is_spared(prune, key.run)) continue;
    if (segments >= segments_max) {
      found.is_all = false;
      return found;
    }
    segments += static_cast<std::size_t>(rows.integer(2));
    EndedRun run{.key = key, .log_end = rows.integer(4), .labels = labels_of(rows.view(5))};
    if (!rows.is_null(3)) run.keyed_at = store_time(rows, 3);
    found.runs.push_back(std::move(run));
  }
}

Result<void> Pruning::remove_run(const EndedRun& run) {
  ERRAND_CHECK(remove_run_.run(run.key.workspace, run.key.run));
  ERRAND_CHECK(labels_.remove(run.key, run.labels));
  if (run.keyed_at) ERRAND_CHECK(keyed_.forget(*run.keyed_at, run.key.run));
  return {};
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
  for (; run.log_end != 0 && count < segments_max; ++count) {
    ERRAND_TRY(run.log_end, remove_segment(run.run, run.log_end));
  }
  if (count == segments_max) return count;
  ERRAND_CHECK(remove_anchors_.run(run.run, segments_max - count));
  return count + static_cast<std::size_t>(database_.changes());
}

Result<std::int64_t> Pruning::remove_segment(const RunId& run, std::int64_t place) {
  Rows rows = remove_segment_.query(place, run);
  ERRAND_TRY(bool found, rows.next());
  const std::int64_t previous = found ? rows.integer(0) : 0;
  if (found) ERRAND_CHECK(rows.next());  // it has written only at its end
  return previous;
}

Result<Pruning::Doomed> Pruning::next_doomed() {
  Rows rows = find_doomed_.query();
  ERRAND_TRY(bool found, rows.next());
  if (!found) return Doomed();
  return Doomed{.run = rows.id<RunId>(0), .log_end = rows.integer(1)};
}

}  // namespace errand::sqlite
