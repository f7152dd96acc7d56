#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/write.hpp"
#include "room/builtin.hpp"
#include "room/room.hpp"
#include "room/room_request.hpp"

namespace errand::room {
namespace {

constexpr std::size_t kSpanTextBytesMax = 256;  // of the text that a caller gives about itself

Content not_found(std::string_view what, std::string_view name) {
  return error_content(RoomCode::not_found, cat(what, " ", name, " was not found"));
}

// An upper bound for the size of a toolkit in a list.
std::size_t listed_size(const Toolkit& toolkit) {
  constexpr std::size_t kMembersBytes = 100;
  constexpr std::size_t kEscapedBytesMax = 6;  // of one byte of the name
  return toolkit.listed.size() + toolkit.name.size() * kEscapedBytesMax + kMembersBytes;
}

}  // namespace

void Room::forget_registered(Participant& host, const Registration& registration) {
  const std::size_t size = listed_size(registration.toolkit);
  host.registered_bytes -= size;
  if (registration.toolkit.is_public) registered_bytes_ -= size;
}

// Whether the toolkit fits into lists; if not, why. A toolkit that the new one replaces does not
// count.
std::optional<Content> Room::too_much_registered(const Participant& from,
                                                 const Toolkit& toolkit) const {
  const std::size_t size = listed_size(toolkit);
  if (from.toolkits.size() >= options_.limits.toolkits_of_one_max) {
    return error_content(RoomCode::invalid_request, "the participant has too many toolkits");
  }
  if (from.registered_bytes + size > options_.limits.registered_bytes_of_one_max) {
    return error_content(RoomCode::invalid_request, "the participant's toolkits are too large");
  }
  if (!toolkit.is_public) return std::nullopt;
  auto held = public_toolkits_.find(toolkit.name);
  const std::size_t freed = held == public_toolkits_.end()
                                ? 0
                                : listed_size(held->second->toolkits.at(toolkit.name).toolkit);
  if (registered_bytes_ - freed + size <= options_.limits.registered_bytes_max) return std::nullopt;
  return error_content(RoomCode::operation_failed, "the room's toolkits are too large");
}

void Room::add_toolkit(Request& request) {
  Participant& from = request.from;
  if (!from.scope.agents) {
    return request.refuse(RoomCode::permission_denied, "the token grants no agents");
  }
  if (request.header_bytes > options_.limits.toolkits.registration_bytes_max) {
    return request.refuse(RoomCode::invalid_request, "the registration is too large");
  }
  auto parsed = parse_toolkit(request.header, options_.limits.toolkits);
  if (!parsed) return request.refuse(RoomCode::invalid_request, parsed.error().describe());
  Toolkit& toolkit = *parsed;
  const AgentsGrant& grant = *from.scope.agents;
  if (toolkit.is_public ? !grant.register_public_toolkit : !grant.register_private_toolkit) {
    return request.refuse(
        RoomCode::permission_denied,
        cat("the token does not allow ", toolkit.is_public ? "public" : "private", " toolkits"));
  }
  if (from.toolkits.contains(toolkit.name) || is_builtin_toolkit(toolkit.name)) {
    return request.refuse(RoomCode::already_exists,
                          cat("toolkit ", toolkit.name, " exists already"));
  }
  auto held = toolkit.is_public ? public_toolkits_.find(toolkit.name) : public_toolkits_.end();
  if (held != public_toolkits_.end() && held->second->identity != from.identity) {
    return request.refuse(RoomCode::already_exists,
                          cat("toolkit ", toolkit.name, " exists already"));
  }
  if (auto refusal = too_much_registered(from, toolkit)) return request.answer(*refusal);
  if (toolkit.is_public) take_over(from, toolkit.name);
  const std::size_t size = listed_size(toolkit);
  from.registered_bytes += size;
  if (toolkit.is_public) registered_bytes_ += size;
  std::string name = toolkit.name;
  Registration registration{.id = options_.make_id(), .toolkit = std::move(toolkit)};
  request.answer(json_content(json::Object{{"id", registration.id}}));
  from.toolkits.emplace(std::move(name), std::move(registration));
  forget_lists();
}

// An earlier connection of the same identity may be dead without the server's knowing. A client
// registers only once after it reconnects, so the new connection must not be refused.
void Room::take_over(Participant& from, const std::string& name) {
  Participant*& host = public_toolkits_[name];
  if (host) {
    calls_.lose_toolkit(*host, name);
    forget_registered(*host, host->toolkits.at(name));
    host->toolkits.erase(name);
  }
  host = &from;
}

void Room::remove_toolkit(Request& request) {
  std::string_view id = json::text_at(&request.header, "id");
  auto& toolkits = request.from.toolkits;
  auto found = std::find_if(toolkits.begin(), toolkits.end(),
                            [&](const auto& one) { return one.second.id == id; });
  if (found == toolkits.end()) return request.answer(not_found("registration", id));
  if (found->second.toolkit.is_public) public_toolkits_.erase(found->first);
  forget_registered(request.from, found->second);
  toolkits.erase(found);
  forget_lists();
  request.answer(empty_content());
}

std::string Room::list_text(const Participant& lister, const Participant* only) const {
  std::string text = R"({"type":"json","json":{"tools":{)";
  const std::size_t empty_size = text.size();
  const AllowedNames& allowed = lister.scope.agents->toolkits;
  auto add = [&](const Participant& host, const Toolkit& toolkit) {
    if (!allowed.allows(toolkit.name)) return;
    if (text.size() > empty_size) text += ',';
    json::write_string(text, toolkit.name);
    append(text, ":{",
           lister.generation == ClientGeneration::old_npm ? toolkit.listed_without_binary
                                                          : toolkit.listed,
           R"(,"participant_id":)");
    json::write_string(text, host.id);
    text += '}';
  };
  const Participant& own = only ? *only : lister;
  for (const auto& [name, registration] : own.toolkits) add(own, registration.toolkit);
  if (!only) {
    for (const auto& [name, host] : public_toolkits_) {
      if (!lister.toolkits.contains(name)) add(*host, host->toolkits.at(name).toolkit);
    }
  }
  return text += "}}}";
}

void Room::list_toolkits(Request& request) {
  const AgentsGrant* grant = request.from.scope.agents ? &*request.from.scope.agents : nullptr;
  if (!grant || !grant->use_tools) {
    return request.refuse(RoomCode::permission_denied, "the token does not allow listing tools");
  }
  std::string_view id = json::text_at(&request.header, "participant_id");
  std::string_view name = json::text_at(&request.header, "participant_name");
  const bool is_filtered = !id.empty() || !name.empty();
  const Participant* only = !id.empty() ? find(id) : is_filtered ? find_named(name) : nullptr;
  if (is_filtered && !only) {
    const json::Value* timeout = request.header.if_contains("timeout");
    const double wait = timeout && timeout->is_number() ? timeout->to_number<double>() : 0;
    if (id.empty() && wait > 0) return wait_for_participant(request, name, wait);
    return request.answer(json_content(json::Object{{"tools", json::Object()}}));
  }
  if (request.from.large_waiting.size() >= options_.limits.lists_of_one_max) {
    return request.refuse(RoomCode::operation_failed, "too many lists are waiting");
  }
  send_large(request.from,
             [this, &from = request.from, request_id = request.message.id,
              only_id = only ? only->id : ""] { return list_for(from, request_id, only_id); });
}

// `only`: a participant's id; empty for all participants.
Message Room::list_for(const Participant& lister, std::uint64_t request_id,
                       const std::string& only) {
  Message answer{.id = request_id, .type = "__response__", .header = ""};
  const Participant* shown = only.empty() ? nullptr : find(only);
  if (!only.empty() && !shown) {
    json::write(answer.header, json_content(json::Object{{"tools", json::Object()}}).header);
  } else if (only.empty() && lister.toolkits.empty() &&
             lister.scope.agents->toolkits.allows_all()) {
    std::string& known = public_lists_[lister.generation];
    if (known.empty()) known = list_text(lister, nullptr);
    answer.header = known;
  } else {
    answer.header = list_text(lister, shown);
  }
  return answer;
}

void Room::forget_lists() {
  public_lists_.clear();
}

void Room::wait_for_participant(Request& request, std::string_view name, double timeout) {
  if (request.from.lists_waiting >= options_.limits.lists_of_one_max) {
    return request.refuse(RoomCode::operation_failed, "too many lists are waiting");
  }
  if (name.size() > options_.limits.kept_name_bytes_max) {
    return request.refuse(RoomCode::invalid_request, "the participant's name is too long");
  }
  const double max = static_cast<double>(options_.limits.list_wait_max.count()) / 1000;
  const milliseconds wait(static_cast<std::int64_t>(std::min(timeout, max) * 1000));
  ++request.from.lists_waiting;
  auto waiting = waiting_lists_.insert(waiting_lists_.end(), {.lister = &request.from,
                                                              .request_id = request.message.id,
                                                              .participant_name = std::string(name),
                                                              .timer = {}});
  waiting->timer =
      options_.timers.set(options_.timers.now() + wait, [this, waiting] { end_waiting(waiting); });
}

void Room::end_waiting(std::list<WaitingList>::iterator waiting) {
  const WaitingList ended = std::move(*waiting);
  waiting_lists_.erase(waiting);
  options_.timers.cancel(ended.timer);
  --ended.lister->lists_waiting;
  const Participant* only = find_named(ended.participant_name);
  if (!only) {
    return ended.lister->respond(ended.request_id,
                                 json_content(json::Object{{"tools", json::Object()}}));
  }
  send_large(*ended.lister,
             [this, lister = ended.lister, request_id = ended.request_id, only_id = only->id] {
               return list_for(*lister, request_id, only_id);
             });
}

void Room::joined(const Participant& participant) {
  for (auto waiting = waiting_lists_.begin(); waiting != waiting_lists_.end();) {
    auto one = waiting++;
    if (one->participant_name == participant.identity.name) end_waiting(one);
  }
}

Registration* Room::registration_of(Participant& host, std::string_view toolkit) {
  auto found = host.toolkits.find(toolkit);
  return found == host.toolkits.end() ? nullptr : &found->second;
}

// The participant that a call of this toolkit goes to: the one that is named, else the caller
// itself, else the one with the public toolkit.
Participant* Room::host_of(const Request& request, std::string_view toolkit) {
  std::string_view id = json::text_at(&request.header, "participant_id");
  if (!id.empty()) return find(id);
  if (request.from.toolkits.contains(toolkit)) return &request.from;
  auto found = public_toolkits_.find(toolkit);
  return found == public_toolkits_.end() ? nullptr : found->second;
}

// The span of a call; null if spans are off. Without a host, the room serves the call. The span has
// neither arguments nor answers, because they may hold secrets.
std::shared_ptr<CallSpan> Room::span_of(const Request& request, std::string_view toolkit,
                                        std::string_view tool, const Participant* host) const {
  if (!options_.spans) return nullptr;
  const Participant& caller = request.from;
  const std::string called(utf8_prefix(tool, kSpanTextBytesMax));
  CallFacts facts{.toolkit = std::string(toolkit),
                  .tool = called,
                  .attributes = {{"toolkit", std::string(toolkit)},
                                 {"tool", called},
                                 {"room", options_.name},
                                 {"session", options_.session_id},
                                 {"caller.id", caller.id},
                                 {"caller.name", caller.identity.name},
                                 {"caller.role", std::string(to_string(caller.role))}},
                  .traceparent = request.traceparent};
  if (host) {
    facts.attributes.emplace_back("host.id", host->id);
    facts.attributes.emplace_back("host.name", host->identity.name);
  }
  for (const char* key : {"on_behalf_of_id", "tool_call_id"}) {
    const std::string value(utf8_prefix(json::text_at(&request.header, key), kSpanTextBytesMax));
    if (!value.empty()) facts.attributes.emplace_back(key, value);
  }
  return std::make_shared<CallSpan>(CallSpans{.sink = options_.spans, .clock = &options_.clock},
                                    std::move(facts));
}

void Room::invoke(Request& request) {
  const json::Object& header = request.header;
  std::string_view toolkit = json::text_at(&header, "toolkit");
  std::string_view tool = json::text_at(&header, "tool");
  if (toolkit.empty() || tool.empty()) {
    return request.refuse(RoomCode::invalid_request, "a call needs a toolkit and a tool");
  }
  if (is_builtin_toolkit(toolkit)) {
    request.span = span_of(request, toolkit, tool, nullptr);
    return serve(request, toolkit, tool);
  }
  const AgentsGrant* grant = request.from.scope.agents ? &*request.from.scope.agents : nullptr;
  if (!grant || !grant->call) {
    return request.refuse(RoomCode::permission_denied, "the token does not allow calls");
  }
  if (!grant->toolkits.allows(toolkit)) {
    return request.refuse(RoomCode::permission_denied,
                          cat("the token does not allow toolkit ", toolkit));
  }
  Participant* host = host_of(request, toolkit);
  Registration* registration = host ? registration_of(*host, toolkit) : nullptr;
  if (!registration) return request.answer(not_found("toolkit", toolkit));
  auto found = registration->toolkit.tools.find(tool);
  if (found == registration->toolkit.tools.end()) return request.answer(not_found("tool", tool));

  Content arguments = request.take_arguments();
  if (auto flaw = flaw_of(arguments.header)) {
    return request.refuse(RoomCode::invalid_request,
                          cat("the arguments are not a content: ", *flaw));
  }
  if (host->generation == ClientGeneration::old_npm) {
    auto fitting = fit_input(tool, found->second, std::move(arguments), options_.schemas);
    if (!fitting) return request.refuse(RoomCode::invalid_request, fitting.error().message());
    arguments = std::move(*fitting);
  }
  json::Object more;
  for (std::string_view key : {"on_behalf_of_id", "caller_context"}) {
    const json::Value* value = header.if_contains(key);
    if (value && !value->is_null()) more[key] = *value;
  }
  std::shared_ptr<CallSpan> span = span_of(request, toolkit, tool, host);
  const std::string traceparent = span ? span->traceparent() : request.traceparent;
  if (!traceparent.empty()) {
    more["__meshagent__"] = {{"v", 1}, {"otel", {{"traceparent", traceparent}}}};
  }
  calls_.begin({.caller = request.from,
                .request_id = request.message.id,
                .call_id = std::string(json::text_at(&header, "tool_call_id")),
                .host = *host,
                .toolkit = std::string(toolkit),
                .tool = std::string(tool),
                .header = std::move(more),
                .arguments = std::move(arguments),
                .takes_cancel = registration->toolkit.takes_cancel,
                .span = std::move(span)});
}

}  // namespace errand::room
