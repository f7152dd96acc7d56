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
  // Newest first. Each thing that is asked for is found by an index in the order of ids.
  Result<std::vector<SessionRow>> list(const SessionFilter& filter);
  Result<std::int64_t> count(const SessionFilter& filter);
  Result<std::vector<SessionEntry>> read_history(const SessionKey& session, std::int64_t after,
                                                 std::int64_t until, std::size_t bytes_max);
  Result<std::vector<RunRow>> runs(const SessionKey& session, const std::optional<RunId>& before,
                                   std::size_t limit);

 private:
  Result<std::vector<SessionId>> ids(const SessionFilter& filter);
  Result<std::vector<SessionId>> ids_by_metadata(const SessionFilter& filter);
  // Calls `take` with each id that a filter with metadata matches, until it gives false.
  template <class Take>
  Result<void> each_common_id(const SessionFilter& filter, std::string bound, Take take);
  // The last id before `bound` that one part of the filter has: a pair of its metadata, or, after
  // these, its status.
  Result<std::string> find_part(const SessionFilter& filter, std::size_t part,
                                std::string_view bound);

  Statement find_;
  Statement exists_;
  Statement ids_;
  Statement ids_by_status_;
  Statement count_;
  Statement count_by_status_;
  Statement find_label_;
  Statement find_status_;
  Statement history_;
  Statement runs_;
};

}  // namespace errand::sqlite
