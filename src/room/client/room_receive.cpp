// Messages that a room sends to its participant.
#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "room/client/room_client.hpp"
#include "room/client/waiting_request.hpp"

namespace errand::room {
namespace {

constexpr std::string_view kCallType = "room.tool_call.";
constexpr std::string_view kCallChunkType = "room.tool_call_request_chunk.";
constexpr std::string_view kTraceMember = "__meshagent__";

// The header; empty if it is not a JSON object.
std::optional<json::Object> parsed_header(const Message& message) {
  auto value = json::parse(message.header, {.duplicate_keys = json::DuplicateKeys::last_wins,
                                            .values_max = json::kStrangersValuesMax});
  if (!value || !value->is_object()) return std::nullopt;
  return std::move(value->as_object());
}

json::Object member_object(const json::Object& from, std::string_view key) {
  const json::Object* found = json::object_at(&from, key);
  return found ? *found : json::Object();
}

ErrorCode error_code_of(std::int64_t room_code) {
  switch (room_code) {
    case 1001: return ErrorCode::forbidden;
    case 1002:
    case 3004: return ErrorCode::invalid_argument;
    case 1003:
    case 3001:
    case 5001: return ErrorCode::not_found;
    case 1004:
    case 1005:
    case 1006:
    case 3002:
    case 3005:
    case 5002: return ErrorCode::conflict;
    case 1009: return ErrorCode::timeout;
    case 1008: return ErrorCode::outcome_unknown;
    default: return ErrorCode::unavailable;
  }
}

std::string traceparent_in(const json::Object& header) {
  const json::Object* trace = json::object_at(&header, kTraceMember);
  return std::string(json::text_at(json::object_at(trace, "otel"), "traceparent"));
}

}  // namespace

Error error_of(const json::Object& header) {
  const std::int64_t code = json::integer_at(&header, "code").value_or(0);
  Error error(error_code_of(code), std::string(json::text_at(&header, "text")));
  if (code == 0) return error;
  return std::move(error).reason(cat("room_", code));
}

std::string Peer::name() const {
  return std::string(json::text_at(&attributes, "name"));
}

void RoomClient::receive(Message& message) {
  const std::string_view type = message.type;
  if (type == "__response__") return take_response(message);
  if (type == "room.tool_call_response_chunk") return take_chunk(message);
  if (type.starts_with(kCallType)) return take_call(message, type.substr(kCallType.size()));
  if (type.starts_with(kCallChunkType)) return take_call_chunk(message);
  auto header = parsed_header(message);
  if (!header) return;
  if (type == "connected") {
    participant_id_ = json::text_at(&*header, "participantId");
    is_connected_ = true;
  } else if (type == "room_ready") {
    room_name_ = json::text_at(&*header, "room_name");
    is_ready_ = true;
  } else if (type == "messaging.send") {
    take_message(*header, message.attachment);
    if (options_.on_event) options_.on_event(message);
  } else if (options_.on_event) {
    options_.on_event(message);
  }
  if (is_connected_ && is_ready_ && phase_ == Phase::apart && !is_stopping_) {
    phase_ = Phase::greeted;
    tasks_.spawn("room.settle", settle(connection_));
  }
}

void RoomClient::take_response(Message& message) {
  auto header = parsed_header(message);
  Result<Content> content = Error(ErrorCode::unavailable, "the room's answer is not JSON");
  if (header)
    content = Content{.header = std::move(*header), .bytes = std::move(message.attachment)};
  if (auto waiting = waiting_.find(message.id); waiting != waiting_.end()) {
    return waiting->second->settle(std::move(content));
  }
  auto due = answers_due_.extract(message.id);
  if (due) due.mapped()->take_answer(std::move(content));
}

void RoomClient::take_chunk(Message& message) {
  auto header = parsed_header(message);
  if (!header) return;
  auto call = calls_.find(json::text_at(&*header, "tool_call_id"));
  if (call == calls_.end()) return;
  const std::size_t size = message.header.size() + message.attachment.size();
  call->second->take_chunk(
      {.header = member_object(*header, "chunk"), .bytes = std::move(message.attachment)}, size);
}

// ---- Calls of others ----------------------------------------------------------------------------

void RoomClient::take_call(Message& message, std::string_view toolkit) {
  auto refuse = [&](RoomCode code, std::string_view why) {
    connection_->send(to_message(message.id, "room.tool_call_response", error_content(code, why)));
  };
  auto header = parsed_header(message);
  if (!header) return refuse(RoomCode::invalid_request, "the call is not JSON");
  std::shared_ptr<HostedToolkit> host;
  for (const auto& [handle, hosted] : hosted_) {
    if (hosted.name == toolkit) host = hosted.toolkit;
  }
  if (!host) return refuse(RoomCode::not_found, cat("toolkit ", toolkit, " was not found"));
  if (taken_.size() >= options_.limits.calls_taken_max) {
    return refuse(RoomCode::invalid_state, "the host has too many calls in flight");
  }
  std::string id(json::text_at(&*header, "tool_call_id"));
  if (id.empty()) id = cat("message-", message.id);
  auto call = std::make_shared<HostedCall>(
      deps_.home, connection_,
      HostedCall::Params{.number = message.id,
                         .id = id,
                         .toolkit = std::string(toolkit),
                         .tool = std::string(json::text_at(&*header, "name")),
                         .arguments = take_arguments(*header, message.attachment),
                         .caller_id = std::string(json::text_at(&*header, "caller_id")),
                         .on_behalf_of_id = std::string(json::text_at(&*header, "on_behalf_of_id")),
                         .caller_context = member_object(*header, "caller_context"),
                         .traceparent = traceparent_in(*header)});
  Taken& taken = taken_[id];
  taken.call = call;
  taken.task = tasks_.spawn("room.call", serve(std::move(call), std::move(host)));
}

Task<void> RoomClient::serve(HostedCallPtr call, std::shared_ptr<HostedToolkit> toolkit) {
  struct End {
    RoomClient& client;
    HostedCallPtr call;
    ~End() {
      call->finish(error_content(RoomCode::operation_failed, "the call was cut off"));
      auto taken = client.taken_.find(call->params().id);
      if (taken != client.taken_.end() && taken->second.call == call) client.taken_.erase(taken);
    }
  };
  End end{*this, call};
  Content answer = co_await toolkit->call(call);
  call->finish(answer);
}

// A close that does not end a streamed input means that the caller has given up the call.
void RoomClient::take_call_chunk(const Message& message) {
  auto header = parsed_header(message);
  if (!header) return;
  auto taken = taken_.find(json::text_at(&*header, "tool_call_id"));
  if (taken == taken_.end()) return;
  Content chunk{.header = member_object(*header, "chunk"), .bytes = message.attachment};
  const bool is_normal = is_open(taken->second.call->params().arguments.header) &&
                         close_status(chunk.header) == kNormalEnd;
  if (is_close(chunk.header) && !is_normal) return tasks_.cancel_one(taken->second.task);
  taken->second.call->take_input(std::move(chunk),
                                 message.header.size() + message.attachment.size());
}

// ---- Messages and presence ----------------------------------------------------------------------

void RoomClient::learn(const json::Object& peer) {
  std::string id(json::text_at(&peer, "id"));
  if (id.empty() || (peers_.size() >= options_.limits.peers_max && !peers_.contains(id))) return;
  peers_[id] = {.id = id,
                .role = std::string(json::text_at(&peer, "role")),
                .attributes = member_object(peer, "attributes")};
}

Peer RoomClient::peer(std::string_view id) const {
  auto known = peers_.find(id);
  return known == peers_.end() ? Peer{.id = std::string(id)} : known->second;
}

void RoomClient::take_message(const json::Object& header, const std::string& attachment) {
  std::string_view type = json::text_at(&header, "type");
  std::string_view from = json::text_at(&header, "from_participant_id");
  json::Object body = member_object(header, "message");
  if (type == "messaging.enabled") {
    const json::Array* all = json::array_at(&body, "participants");
    for (const json::Value& one : all ? *all : json::Array()) {
      if (one.is_object()) learn(one.as_object());
    }
  } else if (type == "participant.enabled") {
    learn(body);
  } else if (type == "participant.disabled") {
    if (auto gone = peers_.find(json::text_at(&body, "id")); gone != peers_.end()) {
      peers_.erase(gone);
    }
  } else if (type == "participant.attributes") {
    auto known = peers_.find(from);
    if (known == peers_.end()) return;
    for (auto& member : member_object(body, "attributes")) {
      known->second.attributes[member.key()] = member.value();
    }
  } else if (options_.on_message) {
    options_.on_message({.from = peer(from),
                         .type = std::string(type),
                         .message = std::move(body),
                         .attachment = attachment});
  }
}

}  // namespace errand::room
