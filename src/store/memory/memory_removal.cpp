// Removing runs: old ones, and those whose removal was requested.
#include "store/memory/memory_tables.hpp"

namespace errand {

PruneOutcome MemoryStoreData::prune(const Prune& prune, StoreTime now) {
  std::erase_if(idempotency_,
                [now](const auto& made) { return made.second.at + kIdempotencyKept <= now; });
  PruneOutcome outcome{.seen = prune.after};
  std::size_t segments = 0;
  auto at = prune.after ? ended_.upper_bound(*prune.after) : ended_.begin();
  while (at != ended_.end() && at->ended_at < prune.ended_before) {
    if (segments >= prune.segments_max) {
      outcome.is_done = false;
      break;
    }
    outcome.seen = *at;
    const StoredRun& run = runs_.at(at->run.run);
    if (run.row.format > kRunFormat || prune.spared.contains(run.row.id)) {
      ++segments;
      ++at;
      continue;
    }
    segments += run.log.size();
    ++outcome.runs;
    remove_records_of(at->run);
    runs_.erase(at->run.run);
    at = ended_.erase(at);
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
    ended_.erase({.ended_at = stored->ended_at, .run = stored->row.key()});
    runs_.erase(run);
    ++removed;
  }
  std::erase_if(blobs_, [](const auto& blob) { return blob.second.expired(); });
  return removed;
}

void MemoryStoreData::note_end(StoredRun& run, StoreTime now) {
  run.ended_at = now;
  ended_.insert({.ended_at = now, .run = run.row.key()});
}

void MemoryStoreData::remove_records_of(const RunKey& run) {
  records_.erase(
      {.workspace = run.workspace, .kind = std::string(kRunRecordKind), .id = run.run.str()});
}

}  // namespace errand
