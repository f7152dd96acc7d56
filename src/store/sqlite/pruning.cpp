#include "store/sqlite/pruning.hpp"

#include <algorithm>

namespace errand::sqlite {
namespace {

// So many keys that are over go in a step.
constexpr std::size_t kKeysMax = 500;

constexpr const char* kFindEnded =
    "SELECT workspace, id, segments, keyed_at FROM runs INDEXED BY ended "
    "WHERE finished = 1 AND updated_at < ? ORDER BY updated_at";
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

Pruning::Pruning(Database& database, KeyedRequests& keyed, MailChanges& mail)
    : database_(database),
      keyed_(keyed),
      mail_(mail),
      find_ended_(database, kFindEnded),
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
  Rows rows = find_ended_.query(prune.ended_before);
  for (;;) {
    ERRAND_TRY(bool more, rows.next());
    if (!more) return found;
    EndedRun run{.workspace = rows.id<WorkspaceSlug>(0),
                 .id = rows.id<RunId>(1),
                 .segments = rows.integer(2),
                 .keyed_at = rows.time(3)};
    if (is_spared(prune, run.id)) continue;
    if (segments >= segments_max) {
      found.is_all = false;
      return found;
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
    const std::size_t limit = segments_max - removed;
    ERRAND_CHECK(remove_segments_.run(run, limit));
    const auto count = static_cast<std::size_t>(database_.changes());
    if (count < limit) ERRAND_CHECK(remove_doomed_.run(run));
    removed += count;
  }
  return removed;
}

Result<RunId> Pruning::next_doomed() {
  Rows rows = find_doomed_.query();
  ERRAND_TRY(bool found, rows.next());
  return found ? rows.id<RunId>(0) : RunId();
}

}  // namespace errand::sqlite
