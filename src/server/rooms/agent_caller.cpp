#include "server/rooms/agent_caller.hpp"

#include <utility>

#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "room/access/token.hpp"
#include "room/wire/python_json.hpp"

namespace errand::server {
namespace {

constexpr net::ClientTimeouts kTimeouts{
    .connect = seconds(5), .first_byte = seconds(15), .idle = seconds(15), .total = seconds(20)};

std::string agent_token(const room::AgentCall& call, const std::string& room,
                        const engine::RoomKey& key) {
  json::Object payload{{"name", call.name},
                       {"grants", json::Array{json::Object{{"name", "room"}, {"scope", room}},
                                              json::Object{{"name", "role"}, {"scope", "agent"}},
                                              json::Object{{"name", "api"}, {"scope", call.api}}}},
                       {"kid", key.info.id},
                       {"sub", key.project},
                       {room::kCalledByMember, call.called_by}};
  if (call.expires_at) {
    payload["exp"] =
        std::chrono::duration_cast<seconds>(call.expires_at->time_since_epoch()).count();
  }
  return room::sign_token(payload, key.secret);
}

net::ClientRequest request_to(const LiveRooms::Place& place, room::AgentCall call,
                              const engine::RoomKey& key) {
  json::Object data{{"room_name", place.name},
                    {"room_url", std::move(call.room_url)},
                    {"token", agent_token(call, place.name, key)},
                    {"arguments", std::move(call.arguments)}};
  std::string body =
      room::python_json(json::Object{{"event", "room.call"}, {"data", std::move(data)}});
  std::string signature =
      room::sign_token({{"sha256", crypto::to_hex(crypto::sha256(body))}}, key.secret);
  net::ClientRequest request{
      .method = net::Method::post,
      .url = std::move(call.url),
      .headers = {{.name = "Content-Type", .value = "application/json"},
                  {.name = "Meshagent-Signature", .value = cat("Bearer ", signature)}},
      .body = std::move(body),
      .timeouts = kTimeouts,
      .resend = net::Resend::never};
  if (!call.traceparent.empty()) {
    request.headers.push_back({.name = "traceparent", .value = std::move(call.traceparent)});
  }
  return request;
}

}  // namespace

AgentCaller::AgentCaller(const Deps& deps)
    : deps_(deps),
      tasks_(deps.home.executor(), [&log = deps.log](const char* task, const std::string& what) {
        log.error("a call of an agent failed; this is a bug",
                  {{.key = "task", .value = task}, {.key = "what", .value = what}});
      }) {}

void AgentCaller::call(const LiveRooms::Place& place, room::AgentCall call,
                       room::Room::AgentCalled done) {
  tasks_.spawn("room.call_agent", run(place, std::move(call), std::move(done)));
}

Task<void> AgentCaller::run(LiveRooms::Place place, room::AgentCall call,
                            room::Room::AgentCalled done) {
  done(co_await send(std::move(place), std::move(call)));
}

// Participants of this process have no room key: the workspace's signing key is used for them.
Task<Result<engine::RoomKey>> AgentCaller::key_of(WorkspaceSlug workspace, std::string id) {
  auto key = co_await deps_.keys.find(std::move(id));
  if (key || key.error().code() != ErrorCode::not_found) co_return key;
  co_return co_await deps_.keys.signing_key(workspace);
}

Task<Result<void>> AgentCaller::send(LiveRooms::Place place, room::AgentCall call) {
  ERRAND_CO_TRY(auto key, co_await key_of(place.workspace, call.caller.key_id));
  ERRAND_CO_TRY(auto answer, co_await deps_.http.open(request_to(place, std::move(call), key)));
  const int status = answer->status();
  if (status >= 200 && status < 300) co_return Result<void>();
  co_return Error(ErrorCode::unavailable, cat("the agent answered the call with ", status));
}

}  // namespace errand::server
