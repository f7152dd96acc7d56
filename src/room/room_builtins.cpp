// The toolkits of the room itself: messaging, queues and developer logs.
#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/write.hpp"
#include "room/builtin.hpp"
#include "room/message_stream.hpp"
#include "room/room.hpp"
#include "room/room_request.hpp"

namespace errand::room {
namespace {

// `message` is a JSON object.
Message message_push(std::string_view from, std::string_view type, std::string_view message,
                     std::string attachment = {}) {
  Message push{
      .id = 0, .type = "messaging.send", .header = "", .attachment = std::move(attachment)};
  push.header = R"({"from_participant_id":)";
  json::write_string(push.header, from);
  push.header += R"(,"type":)";
  json::write_string(push.header, type);
  append(push.header, R"(,"message":)", message, "}");
  return push;
}

bool is_sent_on(const json::Object& header) {
  const std::string_view tool = json::text_at(&header, "tool");
  return json::text_at(&header, "toolkit") == "messaging" &&
         (tool == "send" || tool == "broadcast");
}

bool sees_others(const Participant& participant) {
  return participant.has_messaging && participant.scope.messaging->list;
}

}  // namespace

std::optional<Result<ReadMessage::Sent>> take_sent_message(std::string_view from,
                                                           json::Object& header,
                                                           std::string& attachment) {
  if (!is_sent_on(header)) return std::nullopt;
  auto sent = parse_sent_message(take_arguments(header, attachment));
  if (!sent) return std::move(sent).error();
  auto push = std::make_shared<const SharedMessage>(
      message_push(from, sent->type, json::write(sent->message), std::move(sent->attachment)));
  if (json::text_at(&header, "tool") == "broadcast") (void)push->packets();
  return ReadMessage::Sent{.to = std::move(sent->to), .push = std::move(push)};
}

void Room::serve(Request& request, std::string_view toolkit, std::string_view tool) {
  if (toolkit == "messaging") return serve_messaging(request, tool);
  if (toolkit == "storage" && storage_) return serve_storage(request, tool);
  if (toolkit == "queues" && queues_) return serve_queues(request, tool);
  if (toolkit == "developer") return serve_developer(request, tool);
  request.refuse(RoomCode::not_found, cat("toolkit ", toolkit, " was not found"));
}

void Room::serve_messaging(Request& request, std::string_view tool) {
  if (!request.from.scope.messaging) {
    return request.refuse(RoomCode::permission_denied, "the token grants no messaging");
  }
  if (tool == "enable") return enable_messaging(request);
  if (tool == "disable") {
    disable_messaging(request.from);
    return request.answer(empty_content());
  }
  if (tool == "send" || tool == "broadcast") return send_message(request, tool);
  if (tool == "stream") return stream_messages(request);
  request.refuse(RoomCode::not_found, cat("tool ", tool, " was not found"));
}

void Room::enable_messaging(Request& request) {
  Participant& from = request.from;
  const bool is_new = !std::exchange(from.has_messaging, true);
  request.answer(empty_content());
  // A participant that asks again before it has read the list gets one more list, and not one for
  // each request.
  if (!std::exchange(from.presence_waits, true)) {
    send_large(from, [this, &from] {
      from.presence_waits = false;
      return presence_for(from);
    });
  }
  if (is_new) tell_presence(from, "participant.enabled", from.presence);
}

Message Room::presence_for(const Participant& to) const {
  std::string others = R"({"participants":[)";
  const std::size_t empty_size = others.size();
  for (const auto& [id, other] : participants_) {
    if (other.get() == &to || !other->has_messaging || !to.scope.messaging->list) continue;
    append(others, others.size() > empty_size ? "," : "", other->presence);
  }
  others += "]}";
  return message_push(to.id, "messaging.enabled", others);
}

void Room::disable_messaging(Participant& from) {
  if (!std::exchange(from.has_messaging, false)) return;
  tell_presence(from, "participant.disabled", json::write(json::Object{{"id", from.id}}));
}

// Sent to all other participants that asked to be told who is in the room.
void Room::tell_presence(const Participant& from, std::string_view type, std::string_view message) {
  const SharedMessage push(message_push(from.id, type, message));
  for (const auto& [id, other] : participants_) {
    if (other.get() != &from && sees_others(*other)) other->outlet.send_shared(push);
  }
}

void Room::send_message(Request& request, std::string_view tool) {
  const MessagingGrant& grant = *request.from.scope.messaging;
  const bool to_all = tool == "broadcast";
  if (to_all ? !grant.broadcast : !grant.send) {
    return request.refuse(RoomCode::permission_denied,
                          cat("the token does not allow messaging.", tool));
  }
  const Result<ReadMessage::Sent>& sent = *request.sent;
  if (!sent) return request.refuse(RoomCode::invalid_request, sent.error().describe());
  if (to_all) {
    for (const auto& [id, other] : participants_) {
      const bool is_told = other.get() != &request.from && other->has_messaging;
      if (is_told) other->outlet.send_shared(*sent->push);
    }
    return request.answer(empty_content());
  }
  Participant* to = find(sent->to);
  if (!to || !to->has_messaging) return request.refuse(RoomCode::not_found, kNoParticipant);
  to->outlet.send(sent->push->message());
  request.answer(empty_content());
}

void Room::stream_messages(Request& request) {
  if (!request.from.scope.messaging->send) {
    return request.refuse(RoomCode::permission_denied, "the token does not allow messaging.stream");
  }
  if (!is_open(request.take_arguments().header)) {
    return request.refuse(RoomCode::invalid_request, "messaging.stream takes a stream");
  }
  auto find_other = [this](const std::string& id) -> Participant* {
    Participant* other = find(id);
    return other && other->has_messaging ? other : nullptr;
  };
  calls_.begin_local(request.local("messaging", "stream"), [&](Calls::Reply reply) {
    return std::make_shared<MessageStream>(calls_, request.from, find_other, reply);
  });
}

void Room::serve_queues(Request& request, std::string_view tool) {
  Participant& from = request.from;
  if (!from.scope.queues) {
    return request.refuse(RoomCode::permission_denied, "the token grants no queues");
  }
  Content arguments = request.take_arguments();
  json::Value* given = arguments.header.if_contains("json");
  const std::weak_ptr<char> alive = from.alive;
  // When the caller has left, neither the answer nor its delivery matters any more.
  auto give = [&from, id = request.message.id, span = request.span, alive](
                  const Content& content, std::function<void()> written) {
    if (alive.expired()) return;
    if (span) span->end(content);
    from.outlet.send_watched(to_message(id, "__response__", content),
                             [alive, written = std::move(written)] {
                               if (!alive.expired()) written();
                             });
  };
  queues_->serve({.caller = &from,
                  .grant = &*from.scope.queues,
                  .tool = std::string(tool),
                  .arguments = given ? std::move(*given) : json::Value(json::Object()),
                  .answer = request.later(),
                  .give = std::move(give)});
}

void Room::serve_developer(Request& request, std::string_view tool) {
  const auto& grant = request.from.scope.developer;
  if (!grant) return request.refuse(RoomCode::permission_denied, "the token grants no developer");
  if (tool == "logs") return listen_to_logs(request);
  const bool is_plain = tool == "info" || tool == "warning" || tool == "error";
  if (!is_plain && tool != "log") {
    return request.refuse(RoomCode::not_found, cat("tool ", tool, " was not found"));
  }
  if (request.header_bytes > options_.limits.log_bytes_max) {
    return request.refuse(RoomCode::invalid_request, "the line is too long");
  }
  const Content arguments = request.take_arguments();
  const json::Object* given = json::object_at(&arguments.header, "json");
  const json::Object* data = is_plain ? given : json::object_at(given, "data");
  std::string_view type = is_plain ? tool : json::text_at(given, "type");
  if (!data || type.empty()) {
    return request.refuse(RoomCode::invalid_request, "a line needs a type and data");
  }
  logs_.tell(type, *data);
  request.answer(empty_content());
}

void Room::listen_to_logs(Request& request) {
  if (!request.from.scope.developer->logs) {
    return request.refuse(RoomCode::permission_denied, "the token does not allow reading logs");
  }
  if (!is_open(request.take_arguments().header)) {
    return request.refuse(RoomCode::invalid_request, "developer.logs takes a stream");
  }
  if (logs_.listeners() >= options_.limits.log_listeners_max) {
    return request.refuse(RoomCode::operation_failed, "too many read the logs");
  }
  calls_.begin_local(request.local("developer", "logs"), [this](Calls::Reply reply) {
    reply.answer(open_content());
    return logs_.listen(reply);
  });
}

}  // namespace errand::room
