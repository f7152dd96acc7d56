#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/sqlite/file/database.hpp"
#include "store/store.hpp"

namespace errand::sqlite {

// What can be read of sessions, on a connection for reading, inside a transaction that the caller
// begins and ends.
class SessionQueries final {
 public:
  explicit SessionQueries(Database& database);

  Result<SessionRow> find(const SessionKey& session);
  // The last used first, by an index. Metadata and times of creation are found by indices in the
  // order of ids; then it takes as long as there are sessions that match.
  Result<std::vector<SessionRow>> list(const SessionFilter& filter);
  Result<std::int64_t> count(const SessionFilter& filter);
  Result<std::vector<SessionEntry>> read_newest_history(const SessionKey& session,
                                                        std::int64_t after, std::int64_t until,
                                                        std::size_t bytes_max);
  Result<std::vector<SessionEntry>> read_history(const SessionKey& session, std::int64_t after,
                                                 std::int64_t until, std::size_t bytes_max);
  Result<std::vector<RunRow>> runs(const SessionKey& session, const std::optional<RunId>& before,
                                   std::size_t limit);

 private:
  Result<std::vector<SessionId>> ids(const SessionFilter& filter);
  // Those that few sessions match: all of them are found, and put in order.
  Result<std::vector<SessionId>> narrow_ids(const SessionFilter& filter);
  // Calls `take` with the place of each session that the filter matches, whatever its page.
  template <class Take>
  Result<void> each_place(const SessionFilter& filter, Take take);
  // The last id before `bound` that one part of the filter has: a pair of its metadata, or, after
  // these, its status. A filter without any has all ids.
  Result<std::string> find_part(const SessionFilter& filter, std::size_t part,
                                std::string_view bound);

  // Entries with n in (after, until].
  struct EntryRange {
    std::int64_t after = 0;
    std::int64_t until = 0;
  };
  // In the order of the statement, until `bytes_max` is passed.
  Result<std::vector<SessionEntry>> read_entries(Statement& statement, const SessionKey& session,
                                                 EntryRange range, std::size_t bytes_max);

  Statement find_;
  Statement exists_;
  Statement ids_;
  Statement ids_by_status_;
  Statement count_;
  Statement count_by_status_;
  Statement find_id_;
  Statement times_;
  Statement find_label_;
  Statement find_status_;
  Statement history_;
  Statement newest_history_;
  Statement runs_;
};

}  // namespace errand::sqlite
