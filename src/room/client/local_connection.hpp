#pragma once

#include <memory>

#include "async/task.hpp"
#include "room/client/connection.hpp"
#include "room/room.hpp"

namespace errand::room {

// Messages that wait for their reader: the participant is sent away, and may come back.
constexpr std::size_t kLocalQueueBytesMax = 32U * 1024 * 1024;

// Joins a room of this process without a socket, on the room's home. The room must not outlive its
// owner, so the connection lets go of it when it is closed. `url` is where the participant would
// reach the room over the network. unavailable: the room is full.
Result<std::shared_ptr<Connection>> join_locally(const Executor& home, std::shared_ptr<Room> room,
                                                 ParticipantToken token, std::string url);

}  // namespace errand::room
