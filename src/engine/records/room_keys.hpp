#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "engine/records/secret_vault.hpp"
#include "run/ids.hpp"
#include "store/store.hpp"

namespace errand::engine {

// What may be told about a room key.
struct RoomKeyInfo {
  std::string id;  // a UUID
  std::string name;
  WallTime created_at{};
};

// A key that signs participant tokens for the rooms of one workspace.
struct RoomKey {
  RoomKeyInfo info;
  WorkspaceSlug workspace;
  std::string project;  // the workspace as a UUID, which is what clients want
  std::string secret;
};

// The room keys of all workspaces. The owner of a key signs tokens without asking the server, so
// that secrets are kept, sealed, and not only hashes. Tokens name their key and no workspace: a
// second record for each key says which workspace it belongs to. Lives on the engine's home.
// not_found: no such key. Else the errors of SecretVault.
class RoomKeys final {
 public:
  static constexpr std::size_t kKeysMax = 200;     // of a workspace: too_large
  static constexpr std::size_t kCachedMax = 1000;  // all are forgotten, and read again

  // They outlive this.
  RoomKeys(Store& store, SecretVault& vault) : store_(store), vault_(vault) {}

  // Durable when it returns. conflict with reason "idempotency_conflict": the Idempotency-Key was
  // used for something else.
  Task<Result<RoomKey>> create(WorkspaceSlug workspace, std::string name,
                               Idempotency idempotency = {});
  // By id. All of them, because there are few.
  Task<Result<std::vector<RoomKeyInfo>>> list(WorkspaceSlug workspace);
  // Tokens that the key has signed are refused from then on.
  Task<Result<void>> remove(WorkspaceSlug workspace, std::string id);

  Task<Result<RoomKey>> find(std::string id);
  // The key that the server itself signs with, made when it is needed first.
  Task<Result<RoomKey>> signing_key(WorkspaceSlug workspace);

  static std::string project_of(const WorkspaceSlug& workspace);

 private:
  // conflict: there is a key with this id.
  Task<Result<RoomKey>> make(WorkspaceSlug workspace, std::string id, std::string name);
  Task<Result<RoomKey>> read(WorkspaceSlug workspace, std::string id);

  Store& store_;
  SecretVault& vault_;
  std::map<std::string, RoomKey, std::less<>> cached_;
};

}  // namespace errand::engine
