#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "async/blocking_pool.hpp"
#include "async/task.hpp"
#include "base/log.hpp"
#include "net/websocket.hpp"
#include "room/room.hpp"
#include "server/rooms/memory_budget.hpp"

namespace errand::server {

// Of the connection of one participant. A packet of a client has up to 4 MiB; the queue holds at
// least one message of the largest size.
inline constexpr net::WebSocketLimits kRoomSocketLimits{
    .message_bytes_max = 4U * 1024 * 1024 + 1024,
    .queued_bytes_max = 16U * 1024 * 1024,
};

struct RoomSession {
  std::shared_ptr<room::Room> room;
  room::ParticipantToken token;
  room::ClientGeneration generation = room::ClientGeneration::other;
  std::string url;  // where the participant reaches the room
  room::FrameLimits limits = {};
  Log& log;
  MemoryBudget& memory;          // outlives the session
  BlockingPool* pool = nullptr;  // reads long messages; outlives the session. Null: at once
  std::optional<milliseconds> lives_for = {};
  // Whether the token is still good: the handshake takes a while.
  std::function<bool()> is_admitted;
};

// Takes part in the room for as long as the connection lasts. The data of the join is released
// then: thousands may listen for days.
Task<void> run_room_session(std::shared_ptr<RoomSession> session,
                            std::shared_ptr<net::WebSocket> socket);

}  // namespace errand::server
