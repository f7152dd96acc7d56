#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/sqlite/file/database.hpp"
#include "store/store.hpp"

namespace errand::sqlite {

// What can be read, on one connection of its own. No statement, and so no snapshot, stays open
// after a call: the next one sees everything that was committed before it.
class Queries final {
 public:
  explicit Queries(std::unique_ptr<Database> database);

  Result<RunRow> find(const WorkspaceSlug& workspace, const RunId& run);
  Result<std::vector<RunRow>> list(const RunFilter& filter);
  Result<std::vector<Mailbox>> mailboxes(const RunId& run);
  Result<std::vector<SegmentPtr>> read_events(const RunId& run, EventSeq after,
                                              std::size_t bytes_max);
  Result<std::string> read_journal(const RunId& run);
  Result<std::string> read_blob(const RunId& run, const std::string& hash);
  Result<std::vector<Mailbox>> pending_calls(const CallFilter& filter, StoreTime now);
  Result<std::vector<RunRow>> all_runs(const std::optional<RunCursor>& after, std::size_t limit);
  Result<std::vector<SegmentPtr>> read_log(const RunId& run, std::int32_t from_n,
                                           std::size_t bytes_max);
  Result<std::vector<ApiKeyRow>> list_keys();
  Result<void> ping();

  bool failed() const { return database_->failed(); }

 private:
  // What has events after this seq, from this n on.
  struct LogPart {
    EventSeq after = -1;
    std::int32_t n = 0;
    bool with_journal = true;
    bool with_events = true;
  };
  // Calls `take` with each row of a log in turn, until it gives false.
  template <class Take>
  Result<void> each_segment(const RunId& run, LogPart part, Take take);
  Result<std::vector<SegmentPtr>> read_segments(const RunId& run, LogPart part,
                                                std::size_t bytes_max);

  const std::unique_ptr<Database> database_;

  Statement find_run_;
  Statement list_runs_;
  Statement list_unfinished_;
  Statement find_mail_;
  Statement next_segments_;
  Statement find_blob_;
  Statement find_pending_;
  Statement all_runs_;
  Statement list_keys_;
  Statement ping_;
};

// Connections for reading, opened when needed and used again: at most as many as calls at once.
// Safe to use from any thread.
class QueryPool final {
 public:
  explicit QueryPool(std::string path);
  ~QueryPool();
  QueryPool(const QueryPool&) = delete;
  QueryPool& operator=(const QueryPool&) = delete;

  // Calls `work` with a connection that no other thread uses meanwhile.
  template <class F>
  auto run(const F& work) -> decltype(work(std::declval<Queries&>())) {
    ERRAND_TRY(std::unique_ptr<Queries> queries, take());
    auto result = work(*queries);
    give_back(std::move(queries));
    return result;
  }

 private:
  Result<std::unique_ptr<Queries>> take();
  void give_back(std::unique_ptr<Queries> queries);

  const std::string path_;
  std::mutex mutex_;  // protects what follows
  std::vector<std::unique_ptr<Queries>> free_;
};

}  // namespace errand::sqlite
