#pragma once

#include <vector>

#include "store/sqlite/blob_changes.hpp"
#include "store/sqlite/keyed_requests.hpp"
#include "store/sqlite/mail_changes.hpp"

namespace errand::sqlite {

// Removes what is old in small steps, inside transactions that the caller begins and ends. A run
// leaves the lists as a whole and is then doomed: its blobs and segments go a few at a time, in
// this process or a later one.
class Pruning final {
 public:
  Pruning(Database& database, KeyedRequests& keyed, MailChanges& mail, BlobChanges& blobs);

  Result<PruneOutcome> step(const Prune& prune, WallTime now);

 private:
  struct EndedRun {
    WorkspaceSlug workspace;
    RunId id;
    std::int64_t segments = 0;
    WallTime keyed_at{};
    std::int64_t log_end = 0;
  };
  struct Doomed {
    RunId run;                 // empty if there is none
    std::int64_t log_end = 0;  // the place of its last segment, 0 if only the index leads to it
  };
  struct Found {
    std::vector<EndedRun> runs;
    bool is_all = true;
  };
  // Runs that may go, until they have at least that many segments together.
  Result<Found> find_ended(const Prune& prune, std::size_t segments_max);
  Result<void> find_ended_in(const WorkspaceSlug& workspace, const Prune& prune,
                             std::size_t segments_max, std::size_t& segments, Found& found);
  Result<WorkspaceSlug> workspace_after(const WorkspaceSlug& workspace);  // empty if there is none
  Result<void> doom(const EndedRun& run);
  // Says how many segments of doomed runs are removed, or what counts as many.
  Result<std::size_t> remove_segments(std::size_t segments_max);
  // Takes segments from the log's end and says how many; fewer than asked for were the last ones.
  Result<std::size_t> shorten(const Doomed& doomed, std::size_t segments_max);
  // Gives the place of the one before; 0 if this one is not of the run.
  Result<std::int64_t> remove_segment(const RunId& run, std::int64_t place);
  Result<Doomed> next_doomed();

  Database& database_;
  KeyedRequests& keyed_;
  MailChanges& mail_;
  BlobChanges& blobs_;

  Statement next_workspace_;
  Statement find_oldest_;
  Statement remove_run_;
  Statement insert_doomed_;
  Statement find_doomed_;
  Statement shorten_doomed_;
  Statement remove_doomed_;
  Statement remove_segment_;
  Statement remove_anchors_;
};

}  // namespace errand::sqlite
