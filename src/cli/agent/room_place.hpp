#pragma once

#include <string>

#include "base/result.hpp"
#include "run/tools/room_ref.hpp"

namespace errand::cli {

// The room that a flag or an argument means: a room of the workspace by its name, or any other by
// its URL, with the token in ERRAND_ROOM_TOKEN or MESHAGENT_TOKEN. invalid_argument: there is no
// token.
Result<RoomPlace> room_place(const std::string& room);

}  // namespace errand::cli
