#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "async/task.hpp"
#include "base/clock.hpp"
#include "base/id.hpp"
#include "base/result.hpp"
#include "run/principal.hpp"
#include "store/store.hpp"

namespace errand::engine {

struct NewKey {
  ApiKeyRow row;
  std::string secret;  // shown once, never stored
};

// API keys: "mantyx_" and 64 hex digits, of which only a hash is stored. Lives on one home.
class KeyRing final {
 public:
  KeyRing(Store& store, const Clock& clock, IdSource& ids);

  // Reads the keys from the store; call once before use.
  Task<Result<void>> load();
  bool empty() const { return by_hash_.empty(); }

  // Who presents this secret; nothing for one that is unknown or revoked.
  std::optional<Principal> find(std::string_view secret) const;

  // A key that the configuration file names. It is the file's: it is not stored, whatever the store
  // has under it does not count, and only the file can take it back. conflict: the file names it
  // for another workspace, too.
  Result<void> adopt(const WorkspaceSlug& workspace, std::string_view secret);

  static std::string make_secret();
  // `secret` is one that make_secret gave, or that somebody chose. conflict: the key exists.
  Task<Result<NewKey>> create(WorkspaceSlug workspace, std::string name, std::string secret);
  // A request that may come twice: an equal one from the same caller gets the same key again. Its
  // secret is derived from the caller's own, because it is kept nowhere.
  // conflict with reason "idempotency_conflict": the Idempotency-Key was used for something else.
  Task<Result<NewKey>> create_once(WorkspaceSlug workspace, std::string name,
                                   std::string caller_secret, Idempotency idempotency);
  std::vector<ApiKeyRow> list(const WorkspaceSlug& workspace) const;
  // not_found: no such key in this workspace. conflict with reason "key_of_configuration": the
  // configuration file names it. Revoking twice is fine.
  Task<Result<void>> revoke(WorkspaceSlug workspace, KeyId id);

 private:
  ApiKeyRow make_row(const WorkspaceSlug& workspace, std::string name);

  Store& store_;
  const Clock& clock_;
  IdSource& ids_;
  std::unordered_map<std::string, ApiKeyRow> by_hash_;
  std::set<KeyId> adopted_;
};

}  // namespace errand::engine
