#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>

#include "base/result.hpp"
#include "run/tools/room_ref.hpp"
#include "sdk/room/room_core.hpp"

namespace errand::sdk {

// The participant of a command, which joins with RoomCore::join and leaves with RoomCore::stop:
// what is behind errand::Room, on the command's loop, which outlives it. The room is one with a
// URL. `on_event` gets all that the room tells. Errors are those of make_room_connector.
Result<std::shared_ptr<RoomCore>> make_command_room(
    asio::io_context& loop, RoomPlace room,
    std::function<void(const room::Message&)> on_event = {});

}  // namespace errand::sdk
