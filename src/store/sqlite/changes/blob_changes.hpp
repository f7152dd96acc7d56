#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/sqlite/file/database.hpp"
#include "store/store.hpp"

namespace errand::sqlite {

// What can be written to blobs, inside a transaction that the caller begins and ends. Costs nothing
// where there are none.
class BlobChanges final {
 public:
  explicit BlobChanges(Database& database);

  // not_found: a blob comes without bytes, and the workspace does not have it.
  Result<void> check(const WorkspaceSlug& workspace, const std::vector<RunBlob>& blobs);
  // Of a run that is there; all of them are there or have bytes.
  Result<void> keep(const RunKey& run, const std::vector<RunBlob>& blobs);
  // Takes a run's blobs from it, and removes each blob that no run names any more, until all are
  // done or `cost_max` is reached. Returns the cost: a large blob counts as many segments.
  Result<std::size_t> release(const RunId& run, std::size_t cost_max);

 private:
  struct Use {
    WorkspaceSlug workspace;
    std::string hash;
    std::size_t cost = 0;
  };
  Result<std::optional<Use>> first_use(const RunId& run);

  Statement find_;
  Statement insert_;
  Statement insert_use_;
  Statement first_use_;
  Statement remove_use_;
  Statement remove_unused_;
};

}  // namespace errand::sqlite
