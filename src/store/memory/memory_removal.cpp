// Runs that go: old ones, and those whose removal is asked for.
#include <algorithm>

#include "store/memory/memory_tables.hpp"

namespace errand {

PruneOutcome MemoryStoreData::prune(const Prune& prune, StoreTime now) {
  std::erase_if(idempotency_,
                [now](const auto& made) { return made.second.at + kIdempotencyKept <= now; });
  PruneOutcome outcome;
  std::size_t segments = 0;
  for (auto at = runs_.begin(); at != runs_.end();) {
    const RunRow& row = at->second.row;
    bool is_spared = row.format > kRunFormat || std::find(prune.spared.begin(), prune.spared.end(),
                                                          row.id) != prune.spared.end();
    if (!is_terminal(row.status) || at->second.ended_at >= prune.ended_before || is_spared) {
      ++at;
      continue;
    }
    if (segments >= prune.segments_max) {
      outcome.is_done = false;
      break;
    }
    segments += at->second.log.size();
    ++outcome.runs;
    remove_records_of(row.key());
    at = runs_.erase(at);
  }
  std::erase_if(blobs_, [](const auto& blob) { return blob.second.expired(); });
  return outcome;
}

std::size_t MemoryStoreData::remove_runs(const WorkspaceSlug& workspace,
                                         const std::vector<RunId>& runs) {
  std::size_t removed = 0;
  for (const RunId& run : runs) {
    const StoredRun* stored = find_run({.workspace = workspace, .run = run});
    if (!stored || !is_terminal(stored->row.status) || stored->row.format > kRunFormat) continue;
    std::erase_if(idempotency_,
                  [&run](const auto& made) { return made.second.subject == run.view(); });
    remove_records_of({.workspace = workspace, .run = run});
    runs_.erase(run);
    ++removed;
  }
  std::erase_if(blobs_, [](const auto& blob) { return blob.second.expired(); });
  return removed;
}

void MemoryStoreData::remove_records_of(const RunKey& run) {
  records_.erase(
      {.workspace = run.workspace, .kind = std::string(kRunRecordKind), .id = run.run.str()});
}

}  // namespace errand
