#include "server/rooms/room_door.hpp"

#include <optional>
#include <utility>

#include "base/text.hpp"
#include "net/url.hpp"
#include "net/websocket_stream.hpp"
#include "room/client/local_connection.hpp"
#include "server/rooms/record_room_store.hpp"
#include "server/rooms/room_session.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kProtocolBegin = "meshagent-room.";
// The key id of runs. No token has this id.
constexpr std::string_view kOwnKeyId = "errand";

// "http://host" becomes "ws://host", and "https" becomes "wss".
std::string ws_base(std::string_view url) {
  std::string base(net::without_trailing_slashes(url));
  return base.starts_with("http") ? cat("ws", base.substr(4)) : base;
}

Error no_such_room(std::string_view name) {
  return {ErrorCode::not_found, cat("there is no room \"", utf8_prefix(name, 80), "\"")};
}

// How a token was sent, which also tells what kind of client sent it.
struct Carried {
  std::string token;
  std::string protocol;  // the sub-protocol to choose; empty: none
  room::ClientGeneration generation = room::ClientGeneration::other;
};

// Looks in the header, the parameter and the sub-protocol, in this order. Wherever the token is,
// one of the offered sub-protocols has to be chosen, or browsers close the connection.
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

std::unique_ptr<AgentCaller> make_caller(const RoomDoor::Deps& deps) {
  if (!deps.http) return nullptr;
  return std::make_unique<AgentCaller>(AgentCaller::Deps{
      .home = deps.home, .http = *deps.http, .keys = deps.records.room_keys, .log = deps.log});
}

}  // namespace

RoomDoor::RoomDoor(const Deps& deps, Options options)
    : home_(deps.home),
      store_(deps.store),
      records_(deps.records),
      clock_(deps.clock),
      log_(deps.log),
      pool_(deps.pool),
      options_(std::move(options)),
      memory_(options_.memory),
      agents_(make_caller(deps)),
      rooms_({.home = deps.home,
              .timers = deps.timers,
              .clock = clock_,
              .store = store_,
              .tasks = tasks_,
              .spans = deps.spans},
             options_.limits, services()),
      removals_(store_),
      tasks_(deps.home.executor(), [&log = deps.log](const char* task, const std::string& what) {
        log.error("a task of a room failed; this is a bug",
                  {{.key = "task", .value = task}, {.key = "what", .value = what}});
      }) {}

LiveRooms::Services RoomDoor::services() {
  LiveRooms::Services services;
  services.make_file_url = [this](const LiveRooms::Place& place, room::FileToRead file,
                                  room::Room::FileUrl done) {
    tasks_.spawn("room.file_url", make_file_url(place, std::move(file), std::move(done)));
  };
  if (!agents_) return services;
  services.call_agent = [this](const LiveRooms::Place& place, room::AgentCall call,
                               room::Room::AgentCalled done) {
    agents_->call(place, std::move(call), std::move(done));
  };
  return services;
}

Task<Result<RoomDoor::Known>> RoomDoor::known_token(std::string text) {
  if (text.empty()) co_return room::refused_token("no participant token was sent");
  ERRAND_CO_TRY(auto unverified, room::read_token(text));
  std::string key_id = unverified.key_id();
  if (key_id.empty())
    co_return room::refused_token("the token does not say which key has signed it");
  auto key = co_await records_.room_keys.find(std::move(key_id));
  if (!key && key.error().code() == ErrorCode::not_found) {
    co_return room::refused_signature();
  }
  if (!key) co_return std::move(key).error();
  co_return Known{.token = std::move(unverified), .key = std::move(*key)};
}

Task<Result<RoomDoor::Admitted>> RoomDoor::admit(std::string text, std::string name) {
  ERRAND_CO_TRY(auto known, co_await known_token(std::move(text)));
  ERRAND_CO_TRY(auto token, room::verify_token(known.token, known.key.secret, clock_.now()));
  if (token.room != name) co_return room::refused_token("the token is for another room");
  co_return Admitted{.token = std::move(token), .workspace = known.key.workspace};
}

Task<Result<net::Response>> RoomDoor::enter(net::Request request) {
  const std::string name = request.params.at(0);
  if (!room::is_room_name(name)) co_return no_such_room(name);
  if (!net::asks_for_websocket(request)) {
    co_return Error(ErrorCode::unsupported, "a room is entered with a WebSocket")
        .reason("upgrade_required");
  }
  Carried carried = carried_by(request);
  const std::uint64_t removed = keys_removed_ + rooms_removed_;
  ERRAND_CO_TRY(auto admitted, co_await admit(std::move(carried.token), name));
  const WorkspaceSlug workspace = admitted.workspace;
  ERRAND_CO_TRY(auto record, co_await room_to_enter(workspace, name));

  auto room = rooms_.open({.workspace = workspace, .name = name, .id = record.id});
  ERRAND_CO_CHECK(room->can_join(admitted.token.identity));
  std::optional<milliseconds> lives_for;
  if (admitted.token.expires_at) lives_for = *admitted.token.expires_at - clock_.now();
  auto session = std::make_shared<RoomSession>(RoomSession{
      .room = std::move(room),
      .token = std::move(admitted.token),
      .generation = carried.generation,
      .url = url_of(request, name),
      .limits = options_.limits.frames,
      .log = log_,
      .memory = memory_,
      .pool = pool_,
      .lives_for = lives_for,
      .is_admitted = [this, removed] { return removed == keys_removed_ + rooms_removed_; }});
  net::Response response;
  response.status = 101;
  response.upgrade = std::make_unique<net::Upgrade>();
  response.upgrade->headers = std::move(request.headers);
  response.upgrade->protocol = std::move(carried.protocol);
  response.upgrade->limits = kRoomSocketLimits;
  response.upgrade->compression = options_.compression;
  response.upgrade->session =
      [session = std::move(session)](std::shared_ptr<net::WebSocket> socket) mutable {
        return run_room_session(std::move(session), std::move(socket));
      };
  co_return response;
}

Task<Result<std::shared_ptr<room::Connection>>> RoomDoor::enter(WorkspaceSlug workspace,
                                                                std::string name,
                                                                std::string participant) {
  if (!room::is_room_name(name)) co_return no_such_room(name);
  const std::uint64_t removed = rooms_removed_;
  ERRAND_CO_TRY(auto record, co_await room_to_enter(workspace, name));
  if (removed != rooms_removed_) {
    co_return Error(ErrorCode::unavailable, "a room was deleted at this moment; try again");
  }
  auto room = rooms_.open({.workspace = workspace, .name = name, .id = record.id});
  // A run finds and calls tools, and sends messages. It hosts no toolkit, so that it takes no name
  // from another participant.
  room::ApiScope scope{.agents = room::AgentsGrant{.register_public_toolkit = false,
                                                   .register_private_toolkit = false},
                       .messaging = room::MessagingGrant{}};
  room::ParticipantToken token{.identity = {.project = workspace.str(),
                                            .key_id = std::string(kOwnKeyId),
                                            .name = std::move(participant)},
                               .role = room::Role::agent,
                               .room = name,
                               .scope = std::move(scope)};
  co_return room::join_locally(home_.executor(), std::move(room), std::move(token),
                               cat(ws_base(own_url_), "/rooms/", name));
}

Task<Result<NamedRecord>> RoomDoor::find_room(WorkspaceSlug workspace, std::string name) {
  auto found = co_await records_.rooms.find(workspace, name);
  if (!found && found.error().code() == ErrorCode::not_found) co_return no_such_room(name);
  co_return found;
}

Task<Result<NamedRecord>> RoomDoor::ensure_room(WorkspaceSlug workspace, std::string name) {
  auto made = co_await records_.rooms.create(workspace, name, "{}", {});
  if (made) {
    if (auto count = room_counts_.find(workspace); count != room_counts_.end()) ++count->second;
    co_return std::move(made->record);
  }
  if (made.error().reason() == "name_taken") co_return co_await find_room(workspace, name);
  co_return std::move(made).error();
}

Task<Result<NamedRecord>> RoomDoor::room_to_enter(WorkspaceSlug workspace, std::string name) {
  auto record = co_await find_room(workspace, name);
  if (record || record.error().code() != ErrorCode::not_found) co_return record;
  if (options_.makes_rooms && !options_.makes_rooms(workspace)) co_return no_such_room(name);
  ERRAND_CO_CHECK(co_await check_room_count(workspace));
  co_return co_await ensure_room(workspace, name);
}

// Counts the rooms of a workspace once; rooms that are made here are added to the count.
Task<Result<void>> RoomDoor::check_room_count(WorkspaceSlug workspace) {
  constexpr std::size_t kPage = 500;
  if (!room_counts_.contains(workspace)) {
    std::size_t count = 0;
    std::string after;
    do {
      ERRAND_CO_TRY(auto page, co_await records_.rooms.list(workspace, std::move(after), kPage));
      count += page.records.size();
      after = std::move(page.next);
    } while (!after.empty() && count < options_.rooms_made_by_joining_max);
    room_counts_.emplace(workspace, count);
  }
  if (room_counts_[workspace] < options_.rooms_made_by_joining_max) co_return Result<void>();
  co_return Error(ErrorCode::forbidden, "the workspace has too many rooms")
      .reason("too_many_rooms")
      .limit("rooms", static_cast<std::int64_t>(options_.rooms_made_by_joining_max));
}

Task<Result<void>> RoomDoor::remove_room(WorkspaceSlug workspace, std::string name) {
  auto record = co_await find_room(workspace, name);
  if (!record && record.error().code() == ErrorCode::not_found) {
    ERRAND_CO_TRY(bool was_going, co_await finish_removals_of(workspace, name));
    if (was_going) co_return Result<void>();
  }
  if (!record) co_return std::move(record).error();
  const GoingRoom going{.workspace = workspace, .id = record->id, .name = record->name};
  ERRAND_CO_CHECK(co_await removals_.begin(going));
  // If the record stays, the note does no harm.
  ERRAND_CO_CHECK(co_await records_.rooms.remove(workspace, going.id, {}));
  ++rooms_removed_;
  room_counts_.erase(workspace);
  if (auto room = rooms_.find(workspace, going.id)) room->close("the room was deleted");
  co_return co_await finish_removal(going);
}

// Called after the record of the room is gone.
Task<Result<void>> RoomDoor::finish_removal(GoingRoom room) {
  auto kept = rooms_.store_of(room.workspace, room.id);
  ERRAND_CO_CHECK(co_await kept->remove_all());
  co_return co_await removals_.end(std::move(room.id));
}

// Returns whether there were any.
Task<Result<bool>> RoomDoor::finish_removals_of(WorkspaceSlug workspace, std::string name) {
  bool found = false;
  ERRAND_CO_TRY(auto going, co_await removals_.all());
  for (GoingRoom& room : going) {
    if (room.workspace != workspace || (room.name != name && room.id != name)) continue;
    ERRAND_CO_CHECK(co_await finish_removal(std::move(room)));
    found = true;
  }
  co_return found;
}

void RoomDoor::resume_removals() {
  tasks_.spawn("room.removals", finish_removals());
}

Task<void> RoomDoor::finish_removals() {
  auto going = co_await removals_.all();
  if (!going) {
    log_.warning("cannot read which rooms were being deleted; the next start tries again",
                 {{"error", going.error().describe()}});
    co_return;
  }
  for (GoingRoom& room : *going) {
    if (is_stopping_) co_return;
    auto there = co_await records_.rooms.find(room.workspace, room.id);
    const bool is_gone = !there && there.error().code() == ErrorCode::not_found;
    Result<void> done;
    if (there) done = co_await removals_.end(room.id);  // its record was not removed
    if (is_gone) done = co_await finish_removal(room);
    if (done) continue;
    log_.warning("cannot finish the deletion of a room; the next start tries again",
                 {{"room", room.name}, {"error", done.error().describe()}});
  }
}

Task<Result<void>> RoomDoor::remove_key(WorkspaceSlug workspace, std::string id) {
  ERRAND_CO_CHECK(co_await records_.room_keys.remove(workspace, id));
  ++keys_removed_;
  rooms_.evict_key(id, "the room key was deleted");
  co_return Result<void>();
}

Task<void> RoomDoor::stop() {
  is_stopping_ = true;
  if (agents_) co_await agents_->stop();
  co_await tasks_.join();
}

std::vector<room::Room::Listed> RoomDoor::participants(const WorkspaceSlug& workspace,
                                                       const std::string& id) const {
  auto room = rooms_.find(workspace, id);
  return room ? room->participants() : std::vector<room::Room::Listed>();
}

std::string RoomDoor::url_of(const net::Request& request, std::string_view room) const {
  const bool is_secure = equals_ignoring_case(request.header("x-forwarded-proto"), "https");
  std::string base = options_.public_url.empty()
                         ? cat(is_secure ? "https://" : "http://", request.header("host"))
                         : options_.public_url;
  return cat(ws_base(base), "/rooms/", room);
}

}  // namespace errand::server
