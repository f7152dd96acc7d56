#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/sqlite/file/database.hpp"
#include "store/sqlite/run_lists.hpp"
#include "store/sqlite/session_queries.hpp"
#include "store/store.hpp"

namespace errand::sqlite {

// What can be read, on one connection of its own. No statement, and so no snapshot, stays open
// after a call: the next one sees everything that was committed before it.
class Queries final {
 public:
  explicit Queries(std::unique_ptr<Database> database);

  Result<RunRow> find(const RunKey& run);
  Result<std::vector<RunRow>> list(const RunFilter& filter);
  Result<std::vector<Mailbox>> mailboxes(const RunKey& run);
  Result<std::vector<SegmentPtr>> read_events(const RunKey& run, EventSeq after,
                                              std::size_t bytes_max);
  Result<std::vector<SegmentPtr>> read_journal(const RunKey& run, EventSeq after,
                                               std::size_t bytes_max);
  Result<std::string> read_blob(const RunKey& run, const std::string& hash);
  Result<std::vector<Mailbox>> pending_calls(const CallFilter& filter, StoreTime now);
  Result<std::vector<RunRow>> all_runs(const std::optional<RunKey>& after, std::size_t limit);
  Result<std::vector<SegmentPtr>> read_log(const RunKey& run, EventSeq after,
                                           std::size_t bytes_max);
  Result<SessionRow> find_session(const SessionKey& session);
  Result<std::vector<SessionRow>> list_sessions(const SessionFilter& filter);
  Result<std::int64_t> count_sessions(const SessionFilter& filter);
  Result<std::int64_t> count_waiting_for_turn();
  Result<std::vector<SessionEntry>> read_newest_history(const SessionKey& session,
                                                        std::int64_t after, std::int64_t until,
                                                        std::size_t bytes_max);
  Result<std::vector<SessionEntry>> read_history(const SessionKey& session, std::int64_t after,
                                                 std::int64_t until, std::size_t bytes_max);
  Result<std::vector<RunRow>> session_runs(const SessionKey& session,
                                           const std::optional<RunId>& before, std::size_t limit);
  Result<Record> find_record(const RecordKey& key);
  Result<std::vector<Record>> list_records(const RecordFilter& filter);
  Result<std::vector<ApiKeyRow>> list_keys();
  Result<void> ping();

  bool failed() const { return database_->failed(); }

 private:
  // The segments after a seq.
  struct LogPart {
    EventSeq after = -1;
    bool with_journal = true;
    bool with_events = true;
  };
  // Where the log of a run ends, and how much of it is merged.
  struct Log {
    std::int64_t end = 0;  // the place of its last segment; 0 if there is no such run
    std::int64_t merged = 0;
    std::int64_t next = 0;

    // From the number that a segment has in the table to its position in the log.
    std::int64_t number_of(std::int64_t n) const { return n < next ? n : n - next + merged; }
  };
  Result<Log> find_log(const RunKey& run);
  // Calls `take` with each segment of a log in turn, as of one moment, until it gives false.
  template <class Take>
  Result<void> each_segment(const RunKey& run, LogPart part, Take take);
  template <class Take>
  Result<void> walk(const RunKey& run, LogPart part, Take take);
  Result<std::vector<SegmentPtr>> read_segments(const RunKey& run, LogPart part,
                                                std::size_t bytes_max);
  // Calls `read`, a function that gives a Result, with everything as of one moment.
  template <class Read>
  auto at_one_moment(Read read) -> decltype(read());

  const std::unique_ptr<Database> database_;

  RunLists lists_;
  SessionQueries sessions_;
  Statement begin_;
  Statement end_;
  Statement find_run_;
  Statement find_mail_;
  Statement find_log_;
  Statement next_segments_;
  Statement find_blob_;
  Statement find_pending_;
  Statement find_named_;
  Statement find_call_;
  Statement all_runs_;
  Statement find_record_;
  Statement list_records_;
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
