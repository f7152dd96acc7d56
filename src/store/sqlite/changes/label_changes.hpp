#pragma once

#include "store/run_filter.hpp"
#include "store/sqlite/file/database.hpp"

namespace errand::sqlite {

// What lists of runs are filtered by, inside a transaction that the caller begins and ends. Costs
// nothing for runs without metadata.
class LabelChanges final {
 public:
  explicit LabelChanges(Database& database);

  Result<void> add(const RunKey& run, const Labels& labels);
  Result<void> remove(const RunKey& run, const Labels& labels);

 private:
  Statement add_;
  Statement remove_;
};

}  // namespace errand::sqlite
