// The table of routes: rooms, their tokens, and room keys.
#include "server/api.hpp"
#include "server/openapi/query.hpp"

namespace errand::server {

using net::Method;

namespace {

constexpr Parameter kFileToken =
    text_parameter("token", "The token that the address of the file has.");

}  // namespace

std::vector<Api::Row> Api::room_rows() {
  return {
      {{.method = Method::post,
        .path = "/rooms",
        .id = "createRoom",
        .tag = "Rooms",
        .scope = "rooms:write",
        .summary = "Creates a room.",
        .request = "RoomRequest",
        .takes_idempotency_key = true,
        .answers = {{201, "The room.", "Room"}},
        .errors = {"name_taken", "idempotency_conflict"}},
       &Api::create_room},
      {{.method = Method::get,
        .path = "/rooms",
        .id = "listRooms",
        .tag = "Rooms",
        .scope = "rooms:read",
        .summary = "Lists rooms, the oldest first.",
        .query = {query::kLimit, query::kCursor},
        .answers = {{200, "A page of rooms.", "RoomList"}}},
       &Api::list_rooms},
      {{.method = Method::get,
        .path = "/rooms/{roomName}",
        .id = "getRoom",
        .tag = "Rooms",
        .scope = "rooms:read",
        .summary = "Shows a room and who is in it.",
        .answers = {{200, "The room.", "Room"}}},
       &Api::get_room},
      {{.method = Method::delete_,
        .path = "/rooms/{roomName}",
        .id = "deleteRoom",
        .tag = "Rooms",
        .scope = "rooms:write",
        .summary = "Deletes a room and sends its participants away.",
        .answers = {{204, "The room is gone."}}},
       &Api::delete_room},
      {{.method = Method::post,
        .path = "/rooms/{roomName}/tokens",
        .id = "createRoomToken",
        .tag = "Rooms",
        .scope = "rooms:write",
        .summary = "Creates a token for joining the room.",
        .about = "The token cannot be revoked. It is valid until it expires, or until the room key "
                 "of the server is deleted. It expires no later than the credential that makes it.",
        .request = "RoomTokenRequest",
        .answers = {{201, "The token.", "RoomToken"}},
        .errors = {"secret_key_missing", "secret_key_wrong"}},
       &Api::create_room_token},
  };
}

std::vector<Api::Row> Api::room_key_rows() {
  return {
      {{.method = Method::post,
        .path = "/room-keys",
        .id = "createRoomKey",
        .tag = "Rooms",
        .scope = "rooms:write",
        .summary = "Creates a key with which clients sign tokens for rooms themselves.",
        .about = "The key is in this answer and nowhere else; clients take it as "
                 "`MESHAGENT_API_KEY`. A credential that expires cannot make one.",
        .request = "RoomKeyRequest",
        .takes_idempotency_key = true,
        .answers = {{201, "The key.", "NewRoomKey"}},
        .errors = {"forbidden", "idempotency_conflict", "secret_key_missing", "secret_key_wrong"}},
       &Api::create_room_key},
      {{.method = Method::get,
        .path = "/room-keys",
        .id = "listRoomKeys",
        .tag = "Rooms",
        .scope = "rooms:read",
        .summary = "Lists the room keys of the workspace, without the keys themselves.",
        .answers = {{200, "All room keys.", "RoomKeyList"}}},
       &Api::list_room_keys},
      {{.method = Method::delete_,
        .path = "/room-keys/{roomKeyId}",
        .id = "deleteRoomKey",
        .tag = "Rooms",
        .scope = "rooms:write",
        .summary = "Deletes a room key; tokens that it has signed are refused from then on.",
        .answers = {{204, "The key is gone."}}},
       &Api::delete_room_key},
  };
}

// Routes without an API credential: they take a room token or a room key instead.
std::vector<Api::Row> Api::room_door_rows() {
  return {
      {.info = {.method = Method::get,
                .path = "/rooms/{roomName}",
                .id = "joinRoom",
                .tag = "Rooms",
                .summary = "Joins a room over a WebSocket.",
                .about = "Takes a participant token as the header `Authorization: Bearer`, the "
                         "parameter `token` or the sub-protocol `meshagent-room.TOKEN`. The "
                         "protocol is that of MeshAgent clients.",
                .query = {query::kRoomToken},
                .answers = {{101, "The connection is a WebSocket."}},
                .errors = {"invalid_token", "not_found", "upgrade_required", "too_many_rooms",
                           "room_full", "too_many_connections"},
                .access = Access::open},
       .open_verb = &Api::join_room},
      {.info = {.method = Method::post,
                .path = "/accounts/projects/{projectId}/rooms/{roomName}/connect",
                .id = "connectRoom",
                .tag = "Rooms",
                .summary = "Creates a token for a room, for clients with a room key.",
                .about = "MeshAgent's commands ask this with `MESHAGENT_API_KEY`. The key is sent "
                         "as `Authorization: Bearer`.",
                .request = "RoomConnectRequest",
                .request_required = false,
                .answers = {{200, "The token, and where to join.", "RoomConnection"}},
                .errors = {"unauthorized", "not_found", "secret_key_missing", "secret_key_wrong"},
                .access = Access::open},
       .open_verb = &Api::connect_room},
      {.info = {.method = Method::get,
                .path = "/rooms/{roomName}/files/{fileName}",
                .id = "getRoomFile",
                .tag = "Rooms",
                .summary = "Sends a file of a room.",
                .about = "The address comes from `storage.download_url` in the room, and is valid "
                         "for an hour.",
                .query = {kFileToken},
                .answers = {{200, "The file."}},
                .errors = {"invalid_token", "not_found"},
                .access = Access::open},
       .open_verb = &Api::get_room_file},
  };
}

}  // namespace errand::server
