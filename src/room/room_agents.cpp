// room.call: a participant has an agent, which is named by its URL, called into the room.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "room/access/grants.hpp"
#include "room/room_request.hpp"

namespace errand::room {
namespace {

constexpr std::size_t kNameBytesMax = 256;
constexpr std::size_t kUrlBytesMax = 2048;

RoomCode room_code_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::forbidden: return RoomCode::permission_denied;
    case ErrorCode::invalid_argument: return RoomCode::invalid_request;
    case ErrorCode::conflict: return RoomCode::already_exists;
    case ErrorCode::timeout: return RoomCode::timeout;
    default: return RoomCode::operation_failed;
  }
}

// The agent's grants: the same as the caller's, or fewer if the request says so.
Result<json::Object> api_for_agent(const Participant& caller, const json::Object& request) {
  auto own = json::parse(caller.api);
  if (!own || !own->is_object()) return json::Object();
  const json::Object* asked = json::object_at(&request, "api");
  if (!asked) return std::move(own->as_object());
  return narrow_api(own->as_object(), *asked);
}

std::string called_by(const Identity& caller) {
  std::string name = percent_encode(caller.name);
  return caller.called_by.empty() ? name : cat(caller.called_by, "/", name);
}

}  // namespace

Result<AgentCall> Room::agent_call_of(Request& request) {
  const Participant& from = request.from;
  const auto& grant = from.scope.agents;
  if (!grant || !grant->call || !grant->use_agents) {
    return Error(ErrorCode::forbidden, "the token does not allow calling agents");
  }
  if (!options_.call_agent) {
    return Error(ErrorCode::invalid_argument, "this server does not call agents by URL");
  }
  AgentCall call{.name = std::string(json::text_at(&request.header, "name")),
                 .url = std::string(json::text_at(&request.header, "url")),
                 .room_url = from.url,
                 .caller = from.identity,
                 .called_by = called_by(from.identity),
                 .expires_at = from.expires_at};
  const bool is_named = !trim(call.name).empty() && call.name.size() <= kNameBytesMax;
  if (!is_named || call.url.empty() || call.url.size() > kUrlBytesMax) {
    return Error(ErrorCode::invalid_argument, "a call of an agent needs its name and its URL");
  }
  if (call.called_by.size() > options_.limits.agent_called_by_bytes_max) {
    return Error(ErrorCode::invalid_argument, "too many agents have called each other");
  }
  if (const json::Object* arguments = json::object_at(&request.header, "arguments")) {
    call.arguments = *arguments;
  }
  ERRAND_TRY(call.api, api_for_agent(from, request.header));
  const bool is_taken =
      std::any_of(participants_.begin(), participants_.end(), [&](const auto& one) {
        const Identity& other = one.second->identity;
        return other.name == call.name && other.called_by != call.called_by;
      });
  if (is_taken) {
    return Error(ErrorCode::conflict,
                 cat("the room has another participant with the name ", call.name));
  }
  if (*agent_calls_ >= options_.limits.agent_calls_max) {
    return Error(ErrorCode::too_large, "too many agents are being called");
  }
  return call;
}

void Room::call_agent(Request& request) {
  request.span = span_of(request, "room", "call", nullptr);
  auto call = agent_call_of(request);
  if (!call) return request.refuse(room_code_of(call.error()), call.error().message());
  // Parsed, because it becomes a header and the caller may have written anything.
  auto trace = parse_traceparent(request.span ? request.span->traceparent() : request.traceparent);
  if (trace) call->traceparent = to_traceparent(*trace);
  ++*agent_calls_;
  options_.call_agent(std::move(*call), [answer = request.later(),
                                         calls = agent_calls_](const Result<void>& called) {
    --*calls;
    answer(called ? empty_content()
                  : error_content(room_code_of(called.error()), called.error().message()));
  });
}

}  // namespace errand::room
