#pragma once

#include <memory>
#include <string>

#include "async/task.hpp"
#include "base/result.hpp"
#include "room/client/connection.hpp"
#include "run/ids.hpp"

namespace errand::room {

// The way into the rooms that this process serves, without a socket. Lives on the engine's home.
class RoomGate {
 public:
  virtual ~RoomGate() = default;
  // Lets an agent of the workspace in. not_found: the workspace has no such room. unavailable: the
  // room is full, or the store does not answer.
  virtual Task<Result<std::shared_ptr<Connection>>> enter(WorkspaceSlug workspace, std::string room,
                                                          std::string participant) = 0;
};

}  // namespace errand::room
