#pragma once

#include <vector>

#include "store/sqlite/file/database.hpp"
#include "store/store.hpp"

namespace errand::sqlite {

// What can be written to records, inside a transaction that the caller begins and ends.
class RecordChanges final {
 public:
  explicit RecordChanges(Database& database);

  // Changes that are refused have written nothing.
  Result<RecordsOutcome> change(const std::vector<RecordChange>& changes, WallTime now);

 private:
  Result<std::int64_t> version_of(const RecordKey& key);  // 0 if there is none
  Result<Record> put(const RecordKey& key, const std::string& body, WallTime now);

  Statement find_version_;
  Statement put_;
  Statement remove_;
};

}  // namespace errand::sqlite
