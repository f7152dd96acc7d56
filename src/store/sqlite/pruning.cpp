#include "store/sqlite/pruning.hpp"

#include <algorithm>

namespace errand::sqlite {
namespace {

// So many keys that are over go in a step.
constexpr std::size_t kKeysMax = 500;

constexpr const char* kNextWorkspace = "SELECT min(workspace) FROM runs WHERE workspace > ?";
constexpr const char* kFindOldest =
    "SELECT id, segments, keyed_at, finished, created_at, updated_at, log_end FROM runs "
    "WHERE workspace = ? ORDER BY id";
constexpr const char* kRemoveRun = "DELETE FROM runs WHERE workspace = ? AND id = ?";
constexpr const char* kInsertDoomed = "INSERT OR IGNORE INTO doomed (run, log_end) VALUES (?, ?)";
constexpr const char* kFindDoomed = "SELECT run, log_end FROM doomed ORDER BY run LIMIT 1";
constexpr const char* kShortenDoomed = "UPDATE doomed SET log_end = ? WHERE run = ?";
constexpr const char* kRemoveDoomed = "DELETE FROM doomed WHERE run = ?";
// The last ones first: as long as the first one is there, no other run gets this id. Anchors that
// no segment leads to are those that an older program has written.
constexpr const char* kRemoveSegment =
    "DELETE FROM segments WHERE place = ? AND run = ? RETURNING previous";
constexpr const char* kRemoveAnchors =
    "DELETE FROM segments WHERE place IN (SELECT place FROM segments INDEXED BY anchors "
    "WHERE run = ? AND anchor = 1 ORDER BY last_seq DESC, n DESC LIMIT ?)";

bool is_spared(const Prune& prune, const RunId& run) {
  return std::find(prune.spared.begin(), prune.spared.end(), run) != prune.spared.end();
}

}  // namespace

Pruning::Pruning(Database& database, KeyedRequests& keyed, MailChanges& mail, BlobChanges& blobs)
    : database_(database),
      keyed_(keyed),
      mail_(mail),
      blobs_(blobs),
      next_workspace_(database, kNextWorkspace),
      find_oldest_(database, kFindOldest),
      remove_run_(database, kRemoveRun),
      insert_doomed_(database, kInsertDoomed),
      find_doomed_(database, kFindDoomed),
      shorten_doomed_(database, kShortenDoomed),
      remove_doomed_(database, kRemoveDoomed),
      remove_segment_(database, kRemoveSegment),
      remove_anchors_(database, kRemoveAnchors) {}

Result<PruneOutcome> Pruning::step(const Prune& prune, WallTime now) {
  ERRAND_TRY(std::size_t keys, keyed_.remove_old(now, kKeysMax));
  ERRAND_TRY(std::size_t segments, remove_segments(prune.segments_max));
  ERRAND_TRY(Found ended, find_ended(prune, prune.segments_max - segments));
  for (const EndedRun& run : ended.runs) ERRAND_CHECK(doom(run));
  ERRAND_CHECK(remove_segments(prune.segments_max - segments));
  ERRAND_TRY(Doomed left, next_doomed());
  return PruneOutcome{.runs = ended.runs.size(),
                      .is_done = keys < kKeysMax && ended.is_all && left.run.empty()};
}

Result<Pruning::Found> Pruning::find_ended(const Prune& prune, std::size_t segments_max) {
  Found found;
  std::size_t segments = 0;
  ERRAND_TRY(WorkspaceSlug workspace, workspace_after({}));
  while (!workspace.empty() && found.is_all) {
    ERRAND_CHECK(find_ended_in(workspace, prune, segments_max, segments, found));
    ERRAND_TRY(workspace, workspace_after(workspace));
  }
  return found;
}

Result<WorkspaceSlug> Pruning::workspace_after(const WorkspaceSlug& workspace) {
  Rows rows = next_workspace_.query(workspace);
  ERRAND_TRY(bool found, rows.next());
  return found && !rows.is_null(0) ? rows.id<WorkspaceSlug>(0) : WorkspaceSlug();
}

// From the oldest run on, until one was created too late to be old.
Result<void> Pruning::find_ended_in(const WorkspaceSlug& workspace, const Prune& prune,
                                    std::size_t segments_max, std::size_t& segments, Found& found) {
  Rows rows = find_oldest_.query(workspace);
  for (;;) {
    ERRAND_TRY(bool more, rows.next());
    if (!more || rows.time(4) >= prune.ended_before) return {};
    EndedRun run{.workspace = workspace,
                 .id = rows.id<RunId>(0),
                 .segments = rows.integer(1),
                 .keyed_at = rows.time(2),
                 .log_end = rows.integer(6)};
    bool has_ended_long_ago = rows.integer(3) != 0 && rows.time(5) < prune.ended_before;
    if (!has_ended_long_ago || is_spared(prune, run.id)) continue;
    if (segments >= segments_max) {
      found.is_all = false;
      return {};
    }
    segments += static_cast<std::size_t>(run.segments);
    found.runs.push_back(run);
  }
}

Result<void> Pruning::doom(const EndedRun& run) {
  ERRAND_CHECK(remove_run_.run(run.workspace, run.id));
  ERRAND_CHECK(mail_.clear(run.id));
  if (run.keyed_at != WallTime()) ERRAND_CHECK(keyed_.forget(run.keyed_at, run.id));
  return insert_doomed_.run(run.id, run.log_end);
}

Result<std::size_t> Pruning::remove_segments(std::size_t segments_max) {
  std::size_t removed = 0;
  while (removed < segments_max) {
    ERRAND_TRY(Doomed doomed, next_doomed());
    if (doomed.run.empty()) break;
    ERRAND_TRY(std::size_t blobs, blobs_.release(doomed.run, segments_max - removed));
    removed += blobs;
    if (removed >= segments_max) break;
    const std::size_t limit = segments_max - removed;
    ERRAND_TRY(std::size_t count, shorten(doomed, limit));
    if (count < limit) ERRAND_CHECK(remove_doomed_.run(doomed.run));
    removed += count;
  }
  return std::min(removed, segments_max);  // the last blob may have cost more than was left
}

Result<std::size_t> Pruning::shorten(const Doomed& doomed, std::size_t segments_max) {
  std::size_t count = 0;
  std::int64_t end = doomed.log_end;
  for (; end != 0 && count < segments_max; ++count) {
    ERRAND_TRY(end, remove_segment(doomed.run, end));
  }
  if (end != doomed.log_end) ERRAND_CHECK(shorten_doomed_.run(end, doomed.run));
  if (count == segments_max) return count;
  ERRAND_CHECK(remove_anchors_.run(doomed.run, segments_max - count));
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
