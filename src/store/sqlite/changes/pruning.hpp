#pragma once

#include <optional>
#include <vector>

#include "store/sqlite/changes/blob_changes.hpp"
#include "store/sqlite/changes/keyed_requests.hpp"
#include "store/sqlite/changes/label_changes.hpp"
#include "store/sqlite/changes/merging.hpp"

namespace errand::sqlite {

// Removes old data in small steps, inside transactions that the caller begins and ends. A run
// leaves the lists as a whole. If its log is too long for the step, it is then doomed: its blobs
// and segments go a few at a time, in this process or a later one. A step that is not used up by
// removals merges the logs of other ended runs. New runs use free pages again; if a large part of
// the file is free, each step gives some of it back.
class Pruning final {
 public:
  Pruning(Database& database, KeyedRequests& keyed, BlobChanges& blobs, LabelChanges& labels);

  Result<PruneOutcome> step(const Prune& prune, StoreTime now);
  // Takes the runs that have ended out of the lists, and dooms them. Returns their number.
  Result<std::size_t> remove(const WorkspaceSlug& workspace, const std::vector<RunId>& runs);

 private:
  struct EndedRun {
    EndedPlace place;
    std::optional<StoreTime> keyed_at;
    std::int64_t log_end = 0;
    Labels labels;
  };
  struct Doomed {
    RunId run;                 // empty if there is none
    std::int64_t log_end = 0;  // the place of its last segment, 0 if only the index leads to it
  };
  struct Found {
    std::vector<EndedRun> runs;
    bool is_all = true;
    std::optional<EndedPlace> seen;  // the last run that was looked at, whether it may go or stays
  };
  // Runs that may go, the first to have ended first, until they have at least that many segments
  // together. Each run that stays counts as a segment.
  Result<Found> find_ended(const Prune& prune, std::size_t segments_max);
  static EndedRun read_ended(const Rows& rows);
  // Nothing if there is no such run, or if it has not ended.
  Result<std::optional<EndedRun>> find_one(const RunKey& key);
  // Takes a run out of the lists.
  Result<void> remove_run(const EndedRun& run);
  // Removes blobs and segments of doomed runs, and says how many, or what counts as many.
  Result<std::size_t> remove_doomed(std::size_t segments_max);
  // Removes segments of one run; fewer than asked for were the last ones.
  Result<std::size_t> remove_log(Doomed& run, std::size_t segments_max);
  // Takes segments from the log's end and says how many, or what counts as many; fewer than asked
  // for were the last ones.
  Result<std::size_t> shorten(Doomed& run, std::size_t segments_max);
  // Gives `count` and what this segment counts.
  Result<std::size_t> remove_last_segment(Doomed& run, std::size_t count);
  Result<Doomed> next_doomed();
  // Says whether no more pages are free than the file may keep.
  Result<bool> give_back();

  Database& database_;
  KeyedRequests& keyed_;
  BlobChanges& blobs_;
  LabelChanges& labels_;
  Merging merging_;

  Statement find_ended_;
  Statement find_one_;
  Statement remove_run_;
  Statement leave_session_;
  Statement remove_record_;
  Statement insert_doomed_;
  Statement find_doomed_;
  Statement shorten_doomed_;
  Statement remove_doomed_;
  Statement remove_segment_;
  Statement remove_anchors_;
  Statement page_count_;
  Statement free_count_;
  Statement vacuum_;
};

}  // namespace errand::sqlite
