#include "cli/agent/room_place.hpp"

#include "base/text.hpp"
#include "sdk/internal/server_flags.hpp"

namespace errand::cli {

Result<RoomPlace> room_place(const std::string& room) {
  if (room.find("://") == std::string::npos) return RoomPlace{.name = room};
  const sdk::Environment environment = sdk::environment_here();
  for (const char* variable : {"ERRAND_ROOM_TOKEN", "MESHAGENT_TOKEN"}) {
    auto token = environment(variable);
    if (token && !token->empty()) return RoomPlace{.url = room, .token = std::move(*token)};
  }
  return Error(ErrorCode::invalid_argument, cat("there is no token for the room ", room))
      .hint("set ERRAND_ROOM_TOKEN to a token that 'errand rooms token' has made");
}

}  // namespace errand::cli
