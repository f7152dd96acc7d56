#include "server/rooms/room_door.hpp"

#include <optional>
#include <utility>

#include "base/text.hpp"
#include "net/url.hpp"
#include "net/websocket_stream.hpp"
#include "server/rooms/record_room_store.hpp"
#include "server/rooms/room_session.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kProtocolBegin = "meshagent-room.";

Error no_such_room(std::string_view name) {
  return {ErrorCode::not_found, cat("there is no room \"", utf8_prefix(name, 80), "\"")};
}

Error refused_token(std::string message) {
  return Error(ErrorCode::forbidden, std::move(message)).reason("invalid_token");
}

// How a token came, which also tells what kind of client sent it.
struct Carried {
  std::string token;
  std::string protocol;  // the sub-protocol to choose; empty: none
  room::ClientGeneration generation = room::ClientGeneration::other;
};

// Header, parameter, sub-protocol, in this order. Whatever carries the token, a sub-protocol that
// is offered has to be chosen, or browsers close the connection.
Carried carried_by(const net::Request& request) {
  constexpr std::string_view kBearer = "bearer ";
  Carried carried;
  std::string from_protocol;
  for (const std::string& offered : net::offered_protocols(request)) {
    if (carried.protocol.empty()) carried.protocol = offered;
    if (!offered.starts_with(kProtocolBegin) || !from_protocol.empty()) continue;
    carried.protocol = offered;
    from_protocol = offered.substr(kProtocolBegin.size());
  }
  std::string_view authorization = request.header("authorization");
  if (authorization.size() > kBearer.size() &&
      equals_ignoring_case(authorization.substr(0, kBearer.size()), kBearer)) {
    carried.token = trim(authorization.substr(kBearer.size()));
  } else if (auto parameter = request.query_param("token"); parameter && !parameter->empty()) {
    carried.token = std::move(*parameter);
    if (!request.query_param("v")) carried.generation = room::ClientGeneration::old_npm;
  } else {
    carried.token = std::move(from_protocol);
  }
  return carried;
}

}  // namespace

RoomDoor::RoomDoor(const Deps& deps, Options options)
    : store_(deps.store),
      records_(deps.records),
      clock_(deps.clock),
      log_(deps.log),
      options_(std::move(options)),
      rooms_({.home = deps.home, .timers = deps.timers, .store = store_, .tasks = tasks_},
             options_.limits),
      tasks_(deps.home.executor(), [&log = deps.log](const char* task, const std::string& what) {
        log.error("a task of a room failed; this is a bug",
                  {{.key = "task", .value = task}, {.key = "what", .value = what}});
      }) {}

Task<Result<RoomDoor::Admitted>> RoomDoor::admit(std::string text, std::string name) {
  if (text.empty()) co_return refused_token("no participant token was sent");
  ERRAND_CO_TRY(auto unverified, room::read_token(text));
  std::string key_id = unverified.key_id();
  if (key_id.empty()) co_return refused_token("the token does not say which key has signed it");
  auto key = co_await records_.room_keys.find(std::move(key_id));
  if (!key && key.error().code() == ErrorCode::not_found) {
    co_return refused_token("the token is signed with an unknown key");
  }
  if (!key) co_return std::move(key).error();
  ERRAND_CO_TRY(auto token, room::verify_token(unverified, key->secret, clock_.now()));
  if (token.room != name) co_return refused_token("the token is for another room");
  co_return Admitted{.token = std::move(token), .workspace = key->workspace};
}

Task<Result<net::Response>> RoomDoor::enter(net::Request request) {
  const std::string name = request.params.at(0);
  if (!room::is_room_name(name)) co_return no_such_room(name);
  if (!net::asks_for_websocket(request)) {
    co_return Error(ErrorCode::unsupported, "a room is entered with a WebSocket")
        .reason("upgrade_required");
  }
  Carried carried = carried_by(request);
  ERRAND_CO_TRY(auto admitted, co_await admit(std::move(carried.token), name));
  const WorkspaceSlug workspace = admitted.workspace;
  auto record = co_await find_room(workspace, name);
  if (!record && record.error().code() != ErrorCode::not_found) co_return record.error();
  if (!record && options_.makes_rooms && !options_.makes_rooms(workspace)) {
    co_return no_such_room(name);
  }
  if (!record) record = co_await ensure_room(workspace, name);
  if (!record) co_return record.error();

  auto room = rooms_.open(
      {.workspace = workspace, .name = name, .id = record->id, .url = url_of(request, name)});
  if (room->counts().participants >= options_.limits.participants_max) {
    co_return Error(ErrorCode::unavailable, "the room is full").reason("room_full");
  }
  RoomSession session{.room = std::move(room),
                      .token = std::move(admitted.token),
                      .generation = carried.generation,
                      .limits = options_.limits.frames,
                      .log = log_};
  net::Response response;
  response.status = 101;
  response.upgrade = std::make_unique<net::Upgrade>();
  response.upgrade->headers = std::move(request.headers);
  response.upgrade->protocol = std::move(carried.protocol);
  response.upgrade->limits = kRoomSocketLimits;
  response.upgrade->session = [session](std::shared_ptr<net::WebSocket> socket) {
    return run_room_session(session, std::move(socket));
  };
  co_return response;
}

Task<Result<NamedRecord>> RoomDoor::find_room(WorkspaceSlug workspace, std::string name) {
  auto found = co_await records_.rooms.find(workspace, name);
  if (!found && found.error().code() == ErrorCode::not_found) co_return no_such_room(name);
  co_return found;
}

Task<Result<NamedRecord>> RoomDoor::ensure_room(WorkspaceSlug workspace, std::string name) {
  auto made = co_await records_.rooms.create(workspace, name, "{}", {});
  if (made) co_return std::move(made->record);
  if (made.error().reason() == "name_taken") co_return co_await find_room(workspace, name);
  co_return std::move(made).error();
}

Task<Result<void>> RoomDoor::remove_room(WorkspaceSlug workspace, std::string name) {
  ERRAND_CO_TRY(auto record, co_await find_room(workspace, name));
  ERRAND_CO_CHECK(co_await records_.rooms.remove(workspace, name, {}));
  if (auto room = rooms_.find(workspace, name)) room->close("the room was deleted");
  auto kept = std::make_shared<RecordRoomStore>(store_, tasks_, workspace, record.id);
  co_return co_await kept->remove_all();
}

Task<void> RoomDoor::stop() {
  return tasks_.join();
}

std::vector<room::Room::Listed> RoomDoor::participants(const WorkspaceSlug& workspace,
                                                       const std::string& name) const {
  auto room = rooms_.find(workspace, name);
  return room ? room->participants() : std::vector<room::Room::Listed>();
}

std::string RoomDoor::url_of(const net::Request& request, std::string_view room) const {
  const bool is_secure = equals_ignoring_case(request.header("x-forwarded-proto"), "https");
  std::string base = options_.public_url.empty()
                         ? cat(is_secure ? "https://" : "http://", request.header("host"))
                         : options_.public_url;
  base = net::without_trailing_slashes(base);
  // "http://host" becomes "ws://host", and "https" "wss".
  if (base.starts_with("http")) base = cat("ws", base.substr(4));
  return cat(base, "/rooms/", room);
}

}  // namespace errand::server
