#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "async/home.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "json/schema_cache.hpp"
#include "room/room.hpp"
#include "run/ids.hpp"
#include "store/store.hpp"

namespace errand::server {

// Rooms with somebody in them. A room goes when nobody holds it.
class LiveRooms final {
 public:
  // They outlive this. What rooms keep goes to `store`, by `tasks`.
  struct Deps {
    Home home;
    Timers& timers;
    Store& store;
    TaskGroup& tasks;
  };
  LiveRooms(const Deps& deps, room::RoomLimits limits) : deps_(deps), limits_(limits) {}

  // `id` is that of the room's record. `url` is where clients find the room; that of the first one
  // counts.
  struct Place {
    WorkspaceSlug workspace;
    std::string name;
    std::string id;
    std::string url;
  };
  std::shared_ptr<room::Room> open(const Place& place);
  // Null if nobody is there.
  std::shared_ptr<room::Room> find(const WorkspaceSlug& workspace, const std::string& name) const;

  const room::RoomLimits& limits() const { return limits_; }

 private:
  using Key = std::pair<WorkspaceSlug, std::string>;

  const Deps deps_;
  const room::RoomLimits limits_;
  json::SchemaCache schemas_;
  std::map<Key, std::weak_ptr<room::Room>> rooms_;
};

}  // namespace errand::server
