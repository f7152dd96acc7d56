#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "json/members.hpp"
#include "room/room.hpp"

namespace errand::room {

// A request that a room has to answer.
struct Room::Request {
  Participant& from;
  Message& message;
  json::Object header;           // without the members that are about traces
  std::size_t header_bytes = 0;  // as it came
  std::string traceparent;       // may be empty
  std::optional<Result<ReadMessage::Sent>> sent = {};
  std::shared_ptr<CallSpan> span = {};  // of a call that the room itself serves; may be null

  Content take_arguments() { return room::take_arguments(header, message.attachment); }
  void answer(Content content) const {
    if (span) span->end(content);
    from.respond(message.id, std::move(content));
  }
  // Answers later, unless the participant has left by then.
  std::function<void(const Content&)> later() const {
    return [&to = from, id = message.id, span = span,
            alive = std::weak_ptr<char>(from.alive)](const Content& content) {
      if (alive.expired()) return;
      if (span) span->end(content);
      to.respond(id, content);
    };
  }
  // The beginning of a call that the room itself serves.
  Calls::BeginLocal local(std::string_view toolkit, std::string_view tool) const {
    return {.caller = from,
            .request_id = message.id,
            .call_id = std::string(json::text_at(&header, "tool_call_id")),
            .toolkit = std::string(toolkit),
            .tool = std::string(tool),
            .span = span};
  }
  void refuse(RoomCode code, std::string_view text) const { answer(error_content(code, text)); }
};

// What a call of messaging.send or messaging.broadcast sends on; nothing of any other call.
std::optional<Result<ReadMessage::Sent>> take_sent_message(std::string_view from,
                                                           json::Object& header,
                                                           std::string& attachment);

// A list request that waits for a participant to join.
struct Room::WaitingList {
  Participant* lister;
  std::uint64_t request_id;
  std::string participant_name;
  Timers::Id timer;
};

}  // namespace errand::room
