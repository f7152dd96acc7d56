#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "store/sqlite/file/database.hpp"
#include "store/store.hpp"

namespace errand::sqlite {

// What requests with an Idempotency-Key have made, on the writer's connection.
class KeyedRequests final {
 public:
  explicit KeyedRequests(Database& database);

  struct Made {
    std::string subject;  // id of the run, session or key
    bool is_equal = false;
  };
  // What an equal or another request with this key has made; nothing if the key is as new.
  Result<std::optional<Made>> find(const WorkspaceSlug& workspace, const Idempotency& idempotency,
                                   StoreTime now);
  // Replaces an expired request.
  Result<void> remember(const WorkspaceSlug& workspace, const Idempotency& idempotency,
                        std::string_view subject, StoreTime now);
  Result<void> forget(StoreTime at, const RunId& subject);
  // Says how many were over and are removed.
  Result<std::size_t> remove_old(StoreTime now, std::size_t limit);

 private:
  Database& database_;
  Statement find_;
  Statement remember_;
  Statement forget_;
  Statement remove_old_;
};

}  // namespace errand::sqlite
