#include "room/room.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "room/room_request.hpp"

namespace errand::room {
namespace {

constexpr std::string_view kInvokeTool = "room.invoke_tool";
constexpr std::string_view kAnswer = "__response__";
constexpr std::string_view kTraceMember = "__meshagent__";
constexpr std::size_t kTraceparentBytesMax = 128;

constexpr std::uint16_t kNormalClosure = 1000;

// Answers from this size on are made one at a time for each participant.
constexpr std::size_t kLargeBytes = 64U * 1024;

std::string presence_of(const Participant& participant) {
  std::string text;
  json::write(text, json::Object{{"id", participant.id},
                                 {"role", to_string(participant.role)},
                                 {"attributes", participant.attributes}});
  return text;
}

Message push_of(std::string_view type, const json::Object& header) {
  Message message{.id = 0, .type = std::string(type), .header = ""};
  json::write(message.header, header);
  return message;
}

// The header of a message; empty if it is not a JSON object.
std::optional<json::Object> header_of(const Message& message) {
  auto value = json::parse(message.header, {.duplicate_keys = json::DuplicateKeys::last_wins,
                                            .values_max = json::kStrangersValuesMax});
  if (!value || !value->is_object()) return std::nullopt;
  return std::move(value->as_object());
}

// The chunk that a message brings, taken out of it; nothing if there is none.
std::optional<Content> take_chunk_of(json::Object& header, Message& message) {
  json::Value* chunk = header.if_contains("chunk");
  if (!chunk || !chunk->is_object()) return std::nullopt;
  return Content{.header = std::move(chunk->as_object()), .bytes = std::move(message.attachment)};
}

std::string take_traceparent(json::Object& header) {
  std::string traceparent;
  if (const json::Object* trace = json::object_at(&header, kTraceMember)) {
    traceparent = json::text_at(json::object_at(trace, "otel"), "traceparent");
  }
  header.erase(kTraceMember);
  return traceparent.size() <= kTraceparentBytesMax ? traceparent : "";
}

}  // namespace

Room::Room(Options options)
    : options_(std::move(options)), calls_(options_.limits, options_.timers) {
  if (!options_.store) return;
  queues_.emplace(options_.limits, *options_.store);
  storage_.emplace(Storage::Deps{.limits = options_.limits,
                                 .store = *options_.store,
                                 .clock = options_.clock,
                                 .make_id = options_.make_id,
                                 .tell = [this](const FileEvent& event) { tell_of_file(event); },
                                 .make_file_url = options_.make_file_url});
}

Room::~Room() {
  for (WaitingList& waiting : waiting_lists_) options_.timers.cancel(waiting.timer);
  for (const auto& [id, participant] : participants_) options_.timers.cancel(participant->expiry);
}

Error Room::full() const {
  return Error(ErrorCode::unavailable, "the room is full")
      .reason("room_full")
      .limit("participants", static_cast<std::int64_t>(options_.limits.participants_max));
}

Result<void> Room::can_join(const Identity& who) const {
  if (is_closed_) return Error(ErrorCode::unavailable, "the room was closed");
  if (participants_.size() >= options_.limits.participants_max) return full();
  const auto known = connections_.find(who);
  if (known == connections_.end() || known->second < options_.limits.connections_of_one_max) {
    return {};
  }
  return Error(ErrorCode::unavailable, "this participant has too many connections to the room")
      .reason("too_many_connections")
      .limit("connections", static_cast<std::int64_t>(options_.limits.connections_of_one_max));
}

Result<std::string> Room::join(JoinParams params) {
  ERRAND_ASSERT_HOME(options_.home);
  ERRAND_CHECK(can_join(params.token.identity));
  const std::string id = options_.make_id();
  auto participant =
      std::make_unique<Participant>(Participant{.id = id,
                                                .identity = std::move(params.token.identity),
                                                .role = params.token.role,
                                                .scope = std::move(params.token.scope),
                                                .api = std::move(params.token.api),
                                                .expires_at = params.token.expires_at,
                                                .generation = params.generation,
                                                .url = std::move(params.url),
                                                .outlet = params.outlet});
  participant->attributes["name"] = participant->identity.name;
  participant->presence = presence_of(*participant);
  if (presence_bytes_ + participant->presence.size() > options_.limits.presence_bytes_max) {
    return full();
  }
  presence_bytes_ += participant->presence.size();
  params.outlet.send(
      push_of("connected",
              {{"type", "init"}, {"participantId", id}, {"attributes", participant->attributes}}));
  params.outlet.send(push_of("room_ready", {{"room_name", options_.name},
                                            {"room_url", participant->url},
                                            {"session_id", options_.session_id}}));
  Participant& joined_now = *participants_.emplace(id, std::move(participant)).first->second;
  ++connections_[joined_now.identity];
  if (params.lives_for) {
    joined_now.expiry = options_.timers.set(options_.timers.now() + *params.lives_for,
                                            [this, id] { evict(id, "the token has expired"); });
  }
  joined(joined_now);
  return id;
}

void Room::leave(std::string_view id) {
  ERRAND_ASSERT_HOME(options_.home);
  auto found = participants_.find(id);
  if (found == participants_.end()) return;
  // Removed from the room first, so that only its own calls can still send it anything.
  std::unique_ptr<Participant> gone = std::move(found->second);
  participants_.erase(found);
  options_.timers.cancel(gone->expiry);
  const auto connections = connections_.find(gone->identity);
  if (--connections->second == 0) connections_.erase(connections);
  presence_bytes_ -= gone->presence.size();
  for (const auto& [name, registration] : gone->toolkits) forget_registered(*gone, registration);
  std::erase_if(public_toolkits_, [&](const auto& one) { return one.second == gone.get(); });
  if (!gone->toolkits.empty()) forget_lists();
  for (auto waiting = waiting_lists_.begin(); waiting != waiting_lists_.end();) {
    auto one = waiting++;
    if (one->lister != gone.get()) continue;
    options_.timers.cancel(one->timer);
    waiting_lists_.erase(one);
  }
  calls_.leave(*gone);
  if (queues_) queues_->leave(gone.get());
  disable_messaging(*gone);
}

ReadMessage read_message(std::string_view participant, Message message) {
  ReadMessage read{.message = std::move(message), .header = {}};
  read.header_bytes = read.message.header.size();
  if (read.message.type == kAnswer) return read;
  read.header = header_of(read.message);
  // What was read of it is all that is needed, and the text may have megabytes.
  read.message.header = std::string();
  read.message.header.shrink_to_fit();
  if (read.header && read.message.type == kInvokeTool) {
    read.sent = take_sent_message(participant, *read.header, read.message.attachment);
  }
  return read;
}

void Room::receive(std::string_view participant, ReadMessage read) {
  ERRAND_ASSERT_HOME(options_.home);
  Participant* from = find(participant);
  if (!from) return;
  const std::string& type = read.message.type;
  if (type == "set_attributes") return set_attributes(*from, std::move(read.header));
  if (type.starts_with("room.tool_call_response")) return receive_answer(*from, read);
  // Clients are never asked for an answer of this kind, and answering an answer would not help.
  if (type == kAnswer) return;
  receive_request(*from, read);
}

void Room::receive_answer(Participant& from, ReadMessage& read) {
  Message& message = read.message;
  std::optional<json::Object>& header = read.header;
  if (header) header->erase(kTraceMember);
  if (message.type == "room.tool_call_response") {
    if (!header) return calls_.take_answer(from, message.id, std::nullopt);
    return calls_.take_answer(
        from, message.id,
        Content{.header = std::move(*header), .bytes = std::move(message.attachment)});
  }
  if (message.type != "room.tool_call_response_chunk") return;
  // The message's id is also the call's number, and is readable even if the header is not.
  if (!header) return calls_.take_output(from, cat("call-", message.id), std::nullopt);
  if (auto chunk = take_chunk_of(*header, message)) {
    calls_.take_output(from, json::text_at(&*header, "tool_call_id"), std::move(*chunk));
  }
}

void Room::set_attributes(Participant& from, std::optional<json::Object> changed) {
  if (!changed) return;
  changed->erase(kTraceMember);
  changed->erase("name");
  json::Object former = from.attributes;
  for (const auto& [key, value] : *changed) from.attributes[key] = value;
  std::string presence = presence_of(from);
  const std::size_t of_all = presence_bytes_ - from.presence.size() + presence.size();
  if (presence.size() > options_.limits.attributes_bytes_max ||
      of_all > options_.limits.presence_bytes_max) {
    from.attributes = std::move(former);
    return;
  }
  from.presence = std::move(presence);
  presence_bytes_ = of_all;
  if (!from.has_messaging) return;
  tell_presence(from, "participant.attributes",
                json::write(json::Object{{"attributes", std::move(*changed)}}));
}

void Room::receive_request(Participant& from, ReadMessage& read) {
  Message& message = read.message;
  if (!read.header) {
    return from.respond_error(message.id, RoomCode::invalid_request,
                              "the request's header is not a JSON object");
  }
  std::string traceparent = take_traceparent(*read.header);
  Request request{.from = from,
                  .message = message,
                  .header = std::move(*read.header),
                  .header_bytes = read.header_bytes,
                  .traceparent = std::move(traceparent),
                  .sent = std::move(read.sent)};
  if (message.type == "room.register_toolkit") return add_toolkit(request);
  if (message.type == "room.unregister_toolkit") return remove_toolkit(request);
  if (message.type == "room.list_toolkits") return list_toolkits(request);
  if (message.type == kInvokeTool) return invoke(request);
  if (message.type == "room.tool_call_request_chunk") return take_chunk(request);
  if (message.type == "room.call") return call_agent(request);
  request.refuse(RoomCode::invalid_request, cat("unknown request ", message.type));
}

// Answers every chunk, because some clients wait for that before they send the next one.
void Room::take_chunk(Request& request) {
  auto chunk = take_chunk_of(request.header, request.message);
  std::string_view call_id = json::text_at(&request.header, "tool_call_id");
  if (!chunk || call_id.empty()) {
    return request.refuse(RoomCode::invalid_request, "a chunk needs a tool_call_id and a chunk");
  }
  calls_.take_input(request.from, call_id, std::move(*chunk));
  request.answer(empty_content());
}

// A participant that repeatedly asks for something large gets it as fast as it reads, and its
// waiting requests take little memory.
void Room::send_large(Participant& to, std::function<Message()> make) {
  if (to.large_under_way) {
    to.large_waiting.push_back(std::move(make));
    return;
  }
  const Message message = make();
  if (message.header.size() < kLargeBytes) return to.outlet.send(message);
  to.large_under_way = true;
  to.outlet.send_watched(message, [this, &to, alive = std::weak_ptr<char>(to.alive)] {
    if (alive.expired()) return;
    to.large_under_way = false;
    while (!to.large_under_way && !to.large_waiting.empty()) {
      auto next = std::move(to.large_waiting.front());
      to.large_waiting.pop_front();
      send_large(to, std::move(next));
    }
  });
}

Participant* Room::find(std::string_view id) {
  auto found = participants_.find(id);
  return found == participants_.end() ? nullptr : found->second.get();
}

// Finds a participant with the name; one that hosts a toolkit is preferred.
Participant* Room::find_named(std::string_view name) {
  Participant* found = nullptr;
  for (auto& [id, participant] : participants_) {
    if (participant->identity.name != name) continue;
    if (!found || found->toolkits.empty()) found = participant.get();
  }
  return found;
}

// The participant's connection may take a while to end. Nothing that it sends is handled any more.
void Room::evict(std::string id, std::string_view reason) {
  Participant* participant = find(id);
  if (!participant) return;
  participant->outlet.close(kNormalClosure, reason);
  leave(id);
}

void Room::close(std::string_view reason) {
  is_closed_ = true;
  while (!participants_.empty()) evict(participants_.begin()->first, reason);
}

void Room::evict_key(std::string_view key_id, std::string_view reason) {
  std::vector<std::string> theirs;
  for (const auto& [id, participant] : participants_) {
    if (participant->identity.key_id == key_id) theirs.push_back(id);
  }
  for (const std::string& id : theirs) evict(id, reason);
}

Room::Counts Room::counts() const {
  Counts counts{.participants = participants_.size(), .calls = calls_.in_flight()};
  for (const auto& [id, participant] : participants_)
    counts.toolkits += participant->toolkits.size();
  return counts;
}

std::vector<Room::Listed> Room::participants() const {
  std::vector<Listed> all;
  for (const auto& [id, participant] : participants_) {
    Listed one{.id = id, .name = participant->identity.name, .role = participant->role};
    for (const auto& [name, registration] : participant->toolkits) one.toolkits.push_back(name);
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace errand::room
