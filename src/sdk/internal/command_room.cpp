#include "sdk/internal/command_room.hpp"

#include <utility>

#include "sdk/internal/command_core.hpp"

namespace errand::sdk {

Result<std::shared_ptr<RoomCore>> make_command_room(
    asio::io_context& loop, RoomPlace room, std::function<void(const room::Message&)> on_event) {
  auto core =
      std::make_shared<RoomCore>(v1::RoomOptions{.url = std::move(room.url),
                                                 .token = std::move(room.token),
                                                 .handlers = command_handlers()},
                                 RoomOfCommand{.loop = &loop, .on_event = std::move(on_event)});
  ERRAND_CHECK(core->prepare());
  return core;
}

}  // namespace errand::sdk
