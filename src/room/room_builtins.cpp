// The toolkits of the room itself: messaging, queues, and a storage without files.
#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/write.hpp"
#include "room/builtin.hpp"
#include "room/room.hpp"
#include "room/room_request.hpp"

namespace errand::room {
namespace {

constexpr std::string_view kNoParticipant = "the participant was not found";

Message message_push(std::string_view from, std::string_view type, const json::Object& message,
                     std::string attachment = {}) {
  Message push{
      .id = 0, .type = "messaging.send", .header = "", .attachment = std::move(attachment)};
  json::write(push.header,
              json::Object{{"from_participant_id", from}, {"type", type}, {"message", message}});
  return push;
}

json::Object presence_of(const Participant& participant) {
  return {{"id", participant.id},
          {"role", to_string(participant.role)},
          {"attributes", participant.attributes}};
}

bool sees_others(const Participant& participant) {
  return participant.has_messaging && participant.scope.messaging->list;
}

}  // namespace

void Room::serve(Request& request, std::string_view toolkit, std::string_view tool) {
  if (toolkit == "messaging") return serve_messaging(request, tool);
  if (toolkit == "storage") return serve_storage(request, tool);
  if (toolkit == "queues" && queues_) return serve_queues(request, tool);
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
  request.refuse(RoomCode::not_found, cat("tool ", tool, " was not found"));
}

void Room::enable_messaging(Request& request) {
  Participant& from = request.from;
  const bool is_new = !std::exchange(from.has_messaging, true);
  json::Array others;
  if (from.scope.messaging->list) {
    for (const auto& [id, other] : participants_) {
      if (other.get() != &from && other->has_messaging) others.push_back(presence_of(*other));
    }
  }
  request.answer(empty_content());
  from.outlet.send(message_push(from.id, "messaging.enabled", {{"participants", others}}));
  if (is_new) tell_presence(from, "participant.enabled", presence_of(from));
}

void Room::disable_messaging(Participant& from) {
  if (!std::exchange(from.has_messaging, false)) return;
  tell_presence(from, "participant.disabled", {{"id", from.id}});
}

// To everybody else who wants to know who is there.
void Room::tell_presence(const Participant& from, std::string_view type,
                         const json::Object& message) {
  const Message push = message_push(from.id, type, message);
  for (const auto& [id, other] : participants_) {
    if (other.get() != &from && sees_others(*other)) other->outlet.send(push);
  }
}

void Room::send_message(Request& request, std::string_view tool) {
  const MessagingGrant& grant = *request.from.scope.messaging;
  const bool to_all = tool == "broadcast";
  if (to_all ? !grant.broadcast : !grant.send) {
    return request.refuse(RoomCode::permission_denied,
                          cat("the token does not allow messaging.", tool));
  }
  auto sent = parse_sent_message(request.arguments());
  if (!sent) return request.refuse(RoomCode::invalid_request, sent.error().describe());
  const Message push =
      message_push(request.from.id, sent->type, sent->message, std::move(sent->attachment));
  if (to_all) {
    for (const auto& [id, other] : participants_) {
      if (other.get() != &request.from && other->has_messaging) other->outlet.send(push);
    }
    return request.answer(empty_content());
  }
  Participant* to = find(sent->to);
  if (!to || !to->has_messaging) return request.refuse(RoomCode::not_found, kNoParticipant);
  to->outlet.send(push);
  request.answer(empty_content());
}

void Room::serve_queues(Request& request, std::string_view tool) {
  Participant& from = request.from;
  if (!from.scope.queues) {
    return request.refuse(RoomCode::permission_denied, "the token grants no queues");
  }
  const Content arguments = request.arguments();
  const json::Value* given = arguments.header.if_contains("json");
  auto answer = [&from, id = request.message.id,
                 alive = std::weak_ptr<char>(from.alive)](const Content& content) {
    if (!alive.expired()) from.respond(id, content);
  };
  queues_->serve({.caller = &from,
                  .grant = &*from.scope.queues,
                  .tool = std::string(tool),
                  .arguments = given ? *given : json::Value(json::Object()),
                  .answer = std::move(answer)});
}

// Agents list a folder before they start. A room has no files, and says so.
void Room::serve_storage(Request& request, std::string_view tool) {
  const auto& grant = request.from.scope.storage;
  if (!grant) return request.refuse(RoomCode::permission_denied, "the token grants no storage");
  const Content arguments = request.arguments();
  std::string_view given = json::text_at(json::object_at(&arguments.header, "json"), "path");
  auto path = storage_path(given);
  if (!path) return request.refuse(RoomCode::invalid_path, "the path is not valid");
  if (tool == "list") {
    if (!grant->allows_listing(*path)) {
      return request.refuse(RoomCode::permission_denied, "the token does not allow this path");
    }
    return request.answer(json_content(json::Object{{"files", json::Array()}}));
  }
  if (tool != "exists" && tool != "stat") {
    return request.refuse(RoomCode::not_found, cat("tool ", tool, " was not found"));
  }
  if (!grant->allows(FileAction::read, *path)) {
    return request.refuse(RoomCode::permission_denied, "the token does not allow this path");
  }
  request.answer(json_content(json::Object{{"exists", false}}));
}

}  // namespace errand::room
