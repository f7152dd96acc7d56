#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.hpp"
#include "base/result.hpp"
#include "engine/access/key_ring.hpp"
#include "engine/access/once.hpp"
#include "run/principal.hpp"
#include "store/store.hpp"

namespace errand::engine {

struct WorkspaceView {
  WorkspaceSlug slug;
  std::string name;  // for people; empty for a workspace of the configuration file
};

struct NewWorkspace {
  WorkspaceView workspace;
  NewKey key;  // the first key, with which its owners make others
};

// The workspaces of a server. A workspace is there once it has a key. A workspace that is made at
// run time has a record with its name; the records belong to the operator's workspace. Lives on one
// home.
class Workspaces final {
 public:
  // The workspace of the server's operators. Its unrestricted keys, and its keys with the scopes
  // "workspaces:read" and "workspaces:write", may list and create workspaces.
  static constexpr std::string_view kOperator = "default";

  Workspaces(Store& store, KeyRing& keys) : store_(store), keys_(keys) {}

  // conflict with reason "workspace_exists": an equal request has not made it; with reason
  // "idempotency_conflict": the Idempotency-Key was used for another request.
  Task<Result<NewWorkspace>> create(WorkspaceSlug slug, std::string name, Once once = {});
  Task<Result<std::vector<WorkspaceView>>> list();
  // For people; empty for a workspace of the configuration file.
  Task<Result<std::string>> name_of(WorkspaceSlug slug);

  static bool is_operator(const Principal& who) { return who.workspace.view() == kOperator; }

 private:
  // Keeps the request under its Idempotency-Key. conflict: another request has the key.
  Task<Result<void>> keep_request(Once once);
  // What an equal request has made; nothing if none has.
  std::optional<NewWorkspace> find_made(const WorkspaceSlug& slug, const std::string& name,
                                        const std::string& secret);

  Store& store_;
  KeyRing& keys_;
  std::set<WorkspaceSlug> being_made_;  // by requests that have not been answered yet
};

}  // namespace errand::engine
