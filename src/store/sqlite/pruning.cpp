#include "store/sqlite/pruning.hpp"

#include <algorithm>

namespace errand::sqlite {
namespace {

// So many keys that are over go in a step.
constexpr std::size_t kKeysMax = 500;

constexpr const char* kNextWorkspace = "SELECT min(workspace) FROM runs WHERE workspace > ?";
constexpr const char* kFindOldest =
    "SELECT id, segments, keyed_at, finished, created_at, updated_at FROM runs "
    "WHERE workspace = ? ORDER BY id";
constexpr const char* kRemoveRun = "DELETE FROM runs WHERE workspace = ? AND id = ?";
constexpr const char* kInsertDoomed = "INSERT OR IGNORE INTO doomed (run) VALUES (?)";
constexpr const char* kFindDoomed = "SELECT run FROM doomed ORDER BY run LIMIT 1";
constexpr const char* kRemoveDoomed = "DELETE FROM doomed WHERE run = ?";
// The last ones first: as long as the first one is there, no other run gets this id.
constexpr const char* kRemoveSegments =
    "DELETE FROM segments WHERE rowid IN (SELECT rowid FROM segments WHERE run = ? "
    "ORDER BY last_seq DESC, n DESC LIMIT ?)";

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
      remove_doomed_(database, kRemoveDoomed),
      remove_segments_(database, kRemoveSegments) {}

Result<PruneOutcome> Pruning::step(const Prune& prune, WallTime now) {
  ERRAND_TRY(std::size_t keys, keyed_.remove_old(now, kKeysMax));
  ERRAND_TRY(std::size_t segments, remove_segments(prune.segments_max));
  ERRAND_TRY(Found ended, find_ended(prune, prune.segments_max - segments));
  for (const EndedRun& run : ended.runs) ERRAND_CHECK(doom(run));
  ERRAND_CHECK(remove_segments(prune.segments_max - segments));
  ERRAND_TRY(RunId left, next_doomed());
  return PruneOutcome{.runs = ended.runs.size(),
                      .is_done = keys < kKeysMax && ended.is_all && left.empty()};
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
                 .keyed_at = rows.time(2)};
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
  return insert_doomed_.run(run.id);
}

Result<std::size_t> Pruning::remove_segments(std::size_t segments_max) {
  std::size_t removed = 0;
  while (removed < segments_max) {
    ERRAND_TRY(RunId run, next_doomed());
    if (run.empty()) break;
    ERRAND_TRY(std::size_t blobs, blobs_.release(run, segments_max - removed));
    removed += blobs;
    if (removed >= segments_max) break;
    const std::size_t limit = segments_max - removed;
    ERRAND_CHECK(remove_segments_.run(run, limit));
    const auto count = static_cast<std::size_t>(database_.changes());
    if (count < limit) ERRAND_CHECK(remove_doomed_.run(run));
    removed += count;
  }
  return std::min(removed, segments_max);  // the last blob may have cost more than was left
}

Result<RunId> Pruning::next_doomed() {
  Rows rows = find_doomed_.query();
  ERRAND_TRY(bool found, rows.next());
  return found ? rows.id<RunId>(0) : RunId();
}

}  // namespace errand::sqlite
