// The room's files, as participants use them.
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "room/room.hpp"
#include "room/room_request.hpp"

namespace errand::room {
namespace {

bool sees_file(const StorageGrant& grant, const std::string& path) {
  return grant.allows(FileAction::read, path) || grant.allows(FileAction::list, path);
}

Message file_message(std::string_view type, const json::Object& header) {
  Message message{.type = std::string(type), .header = ""};
  json::write(message.header, header);
  return message;
}

}  // namespace

void Room::serve_storage(Request& request, std::string_view tool) {
  Participant& from = request.from;
  if (!from.scope.storage) {
    return request.refuse(RoomCode::permission_denied, "the token grants no storage");
  }
  FileUser user{.participant_id = from.id,
                .grant = *from.scope.storage,
                .room_url = from.url,
                .transfers = from.transfers};
  Content arguments = request.take_arguments();
  if (Storage::is_transfer(tool)) {
    if (!is_open(arguments.header)) {
      return request.refuse(RoomCode::invalid_request, cat("storage.", tool, " takes a stream"));
    }
    return calls_.begin_local(request.local("storage", tool), [&](Calls::Reply reply) {
      return storage_->begin_transfer(tool, std::move(user), reply);
    });
  }
  if (request.header_bytes > options_.limits.file_call_bytes_max) {
    return request.refuse(RoomCode::invalid_request, "the request is too long");
  }
  json::Value* given = arguments.header.if_contains("json");
  storage_->serve({.user = std::move(user),
                   .tool = std::string(tool),
                   .arguments = given ? std::move(*given) : json::Value(json::Object()),
                   .answer = request.later()});
}

// Sent to every participant that may see the file, including the one that changed it. A participant
// that may see only the source or only the target of a move is told of a deletion or a creation.
void Room::tell_of_file(const FileEvent& event) {
  using Kind = FileEvent::Kind;
  auto about = [&](std::string_view type, const std::string& path) {
    return SharedMessage(
        file_message(type, {{"path", path}, {"participant_id", event.participant_id}}));
  };
  const bool is_move = event.kind == Kind::moved;
  const SharedMessage gone = about("storage.file.deleted", event.path);
  const SharedMessage there =
      about("storage.file.updated", is_move ? event.destination : event.path);
  const SharedMessage moved(
      file_message("storage.file.moved", {{"source_path", event.path},
                                          {"destination_path", event.destination},
                                          {"participant_id", event.participant_id}}));
  for (const auto& [id, participant] : participants_) {
    if (!participant->scope.storage) continue;
    const StorageGrant& grant = *participant->scope.storage;
    const bool sees_path = event.kind != Kind::updated && sees_file(grant, event.path);
    const bool sees_new = event.kind == Kind::updated
                              ? sees_file(grant, event.path)
                              : is_move && sees_file(grant, event.destination);
    if (is_move && sees_path && sees_new) {
      participant->outlet.send_shared(moved);
    } else if (sees_path) {
      participant->outlet.send_shared(gone);
    } else if (sees_new) {
      participant->outlet.send_shared(there);
    }
  }
}

}  // namespace errand::room
