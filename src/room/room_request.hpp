#pragma once

#include <list>
#include <string>

#include "room/room.hpp"

namespace errand::room {

// A request that a room has to answer.
struct Room::Request {
  Participant& from;
  const Message& message;
  json::Object header;      // without the members that are about traces
  std::string traceparent;  // may be empty

  Content arguments() const { return arguments_of(header, message.attachment); }
  void answer(const Content& content) const { from.respond(message.id, content); }
  void refuse(RoomCode code, std::string_view text) const {
    from.respond_error(message.id, code, text);
  }
};

// A list that waits for somebody to join.
struct Room::WaitingList {
  Participant* lister;
  std::uint64_t request_id;
  std::string participant_name;
  Timers::Id timer;
};

}  // namespace errand::room
