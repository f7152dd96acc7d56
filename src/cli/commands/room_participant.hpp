#pragma once

#include <string>

#include "cli/show/answer_text.hpp"
#include "sdk/internal/server_flags.hpp"

namespace errand::cli {

// Commands that join a room. `room` is the name of a room of the workspace, for which the server
// makes a token, or a URL; see room_place.

struct RoomCallOptions {
  std::string room;
  std::string toolkit;
  std::string tool;
  std::string arguments = "{}";
  Form form = Form::text;
  sdk::ServerFlags server;
};
// Calls a tool and prints its answer; a tool's failure goes to stderr. Returns the exit code.
int call_in_room(const RoomCallOptions& options);

struct RoomHostOptions {
  std::string room;
  std::string files;  // a directory
  std::string mcp;    // a URL or a command
  std::string name;   // of the toolkit
  sdk::ServerFlags server;
};
// Lends tools to the room until a signal ends it.
int host_in_room(const RoomHostOptions& options);

// Prints what the room tells its participants until a signal ends it.
int tail_room(const AnswerOptions& options, const std::string& room);

}  // namespace errand::cli
