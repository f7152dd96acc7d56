#pragma once

#include <string>
#include <vector>

#include "store/sqlite/file/database.hpp"
#include "store/store.hpp"

namespace errand::sqlite {

// Lists of runs, on a connection for reading, inside a transaction that the caller begins and ends.
class RunLists final {
 public:
  explicit RunLists(Database& database);

  // Newest first. Each thing that is asked for is found by an index in the order of ids; with more
  // than one, the search leaps from each to the next run that the others may have, so that it takes
  // as long as the rarest of them is common.
  Result<std::vector<RunRow>> list(const RunFilter& filter);

 private:
  // The rows of a statement, as long as they are wanted.
  Result<std::vector<RunRow>> take(Rows rows, const RunFilter& filter);
  Result<std::vector<RunRow>> leap(const RunFilter& filter);
  // The last id before `bound` that all of the filter's parts have; empty if there is none.
  Result<std::string> find_common(const RunFilter& filter, std::string bound);
  // The same for one part: a pair of its metadata, or, after these, its session or its status.
  Result<std::string> find_part(const RunFilter& filter, std::size_t part, std::string_view bound);

  Statement all_;
  Statement outcomes_;
  Statement at_work_;
  Statement queued_;
  Statement find_run_;
  Statement find_label_;
  Statement find_of_session_;
  Statement find_outcome_;
  Statement find_at_work_;
  Statement find_queued_;
};

}  // namespace errand::sqlite
