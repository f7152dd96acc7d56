#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "room/wire/content.hpp"

namespace errand::room {

// Toolkits that belong to the room itself, offered or not: no participant can register one of their
// names.
bool is_builtin_toolkit(std::string_view name);

// The text that clients compare with.
constexpr std::string_view kNoParticipant = "the participant was not found";

// A message as `messaging` takes it.
struct SentMessage {
  std::string to;  // a participant's id; empty for all
  std::string type;
  json::Object message;
  std::string attachment;
};

// Reads the arguments of messaging.send and messaging.broadcast. The error is for the caller.
Result<SentMessage> parse_sent_message(const Content& arguments);

}  // namespace errand::room
