#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "async/home.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "json/schema_cache.hpp"
#include "room/room.hpp"
#include "run/ids.hpp"
#include "server/rooms/record_room_store.hpp"
#include "store/store.hpp"

namespace errand::server {

// Rooms with participants. A room goes when its last reference goes.
class LiveRooms final {
 public:
  // They outlive this. What rooms keep goes to `store`, by `tasks`.
  struct Deps {
    Home home;
    Timers& timers;
    const Clock& clock;
    Store& store;
    TaskGroup& tasks;
    SpanSink* spans = nullptr;  // null: none are made
  };
  // `id` is the id of the room's record: a room that was deleted and made again is another room.
  struct Place {
    WorkspaceSlug workspace;
    std::string name;
    std::string id;
  };
  // What rooms have done for them. Each calls back.
  struct Services {
    std::function<void(const Place& place, room::FileToRead file, room::Room::FileUrl done)>
        make_file_url;
    std::function<void(const Place& place, room::AgentCall call, room::Room::AgentCalled done)>
        call_agent;  // empty: rooms call no agents
  };

  LiveRooms(const Deps& deps, room::RoomLimits limits, Services services)
      : deps_(deps), limits_(limits), services_(std::move(services)) {}

  std::shared_ptr<room::Room> open(const Place& place);
  // Null if the room has no participants.
  std::shared_ptr<room::Room> find(const WorkspaceSlug& workspace, const std::string& id) const;
  // The room's stored data. The same object for as long as it is used.
  std::shared_ptr<RecordRoomStore> store_of(const WorkspaceSlug& workspace, const std::string& id);
  // Sends all participants away whose tokens this key has signed.
  void evict_key(const std::string& key_id, std::string_view reason);

  struct Counts {
    std::size_t rooms = 0;
    std::size_t participants = 0;  // of all of them
  };
  Counts counts() const;

  const room::RoomLimits& limits() const { return limits_; }

 private:
  using Key = std::pair<WorkspaceSlug, std::string>;

  const Deps deps_;
  const room::RoomLimits limits_;
  const Services services_;
  json::SchemaCache schemas_;
  std::map<Key, std::weak_ptr<room::Room>> rooms_;
  std::map<Key, std::weak_ptr<RecordRoomStore>> stores_;  // expired ones are dropped now and then
};

}  // namespace errand::server
