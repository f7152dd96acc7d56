#pragma once

#include <functional>
#include <memory>

#include "room/client/room_client.hpp"
#include "room/client/room_decls.hpp"
#include "tool/tool.hpp"

namespace errand::room {

// The participant that makes a call, which is made with these secrets (null: there are none). An
// error is what the model is told.
using FindRoomClient = std::function<Task<Result<std::shared_ptr<RoomClient>>>(CallSecrets*)>;

struct RoomToolDeps {
  FindRoomClient find;
  Timers& timers;          // outlive the tool
  milliseconds host_wait;  // how long a call waits for a host that is not there
};

// The tool of a binding; its calls go to the host in the room.
ToolPtr make_room_tool(RoomToolDeps deps, BoundTool bound, ToolDecl decl);

// All that a call gives: one content, or the items of its stream up to `bytes_max`.
Task<Result<std::vector<Content>>> whole_answer(RoomCallPtr call, std::size_t bytes_max);

// What hosts tell of their progress, in the words of a report.
ProgressReport progress_of(const json::Object& event);

}  // namespace errand::room
