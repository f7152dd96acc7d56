#pragma once

#include <string>
#include <vector>

#include "async/task.hpp"
#include "base/result.hpp"
#include "run/ids.hpp"
#include "store/store.hpp"

namespace errand::server {

// A room whose deletion has begun.
struct GoingRoom {
  WorkspaceSlug workspace;
  std::string id;  // of its record
  std::string name;
};

// Which rooms are being deleted. A room's record goes before the much larger rest of what the room
// keeps; the note here stays until that is gone, so that a deletion that was cut off is finished
// later. Lives on the engine's home.
class RoomRemovals final {
 public:
  explicit RoomRemovals(Store& store) : store_(store) {}

  // Durable when it returns.
  Task<Result<void>> begin(GoingRoom room);
  Task<Result<void>> end(std::string id);

  Task<Result<std::vector<GoingRoom>>> all();

 private:
  Store& store_;
};

}  // namespace errand::server
