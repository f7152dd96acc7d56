#pragma once

#include <string>

#include "async/home.hpp"
#include "async/task.hpp"
#include "async/task_group.hpp"
#include "base/log.hpp"
#include "engine/records/room_keys.hpp"
#include "net/client/http_client.hpp"
#include "room/room.hpp"
#include "server/rooms/live_rooms.hpp"

namespace errand::server {

// Calls agents into rooms: sends a token for the room to the agent's URL, signed with the caller's
// key, so that the agent can tell by this key that the call is genuine. Lives on the engine's home.
class AgentCaller final {
 public:
  struct Deps {  // outlive this
    Home home;
    net::HttpClient& http;  // reaches what tools of runs may reach, and nothing else
    engine::RoomKeys& keys;
    Log& log;
  };

  explicit AgentCaller(const Deps& deps);

  // Calls back once the agent has answered. timeout: it did not within some seconds. forbidden: its
  // address may not be reached. unavailable: it cannot be reached, or refuses.
  void call(const LiveRooms::Place& place, room::AgentCall call, room::Room::AgentCalled done);
  // Gives up calls that are under way. Nothing is called back.
  Task<void> stop() { return tasks_.stop(CancelReason::shutdown); }

 private:
  Task<void> run(LiveRooms::Place place, room::AgentCall call, room::Room::AgentCalled done);
  Task<Result<void>> send(LiveRooms::Place place, room::AgentCall call);
  Task<Result<engine::RoomKey>> key_of(WorkspaceSlug workspace, std::string id);

  const Deps deps_;
  TaskGroup tasks_;  // last: tasks use everything above
};

}  // namespace errand::server
