#include "room/calls.hpp"

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/write.hpp"

namespace errand::room {
namespace {

constexpr std::string_view kCallPrefix = "call-";

std::string host_call_id(std::uint64_t number) {
  return cat(kCallPrefix, number);
}

std::uint64_t number_of(std::string_view call_id) {
  if (!call_id.starts_with(kCallPrefix)) return 0;
  return parse_integer<std::uint64_t>(call_id.substr(kCallPrefix.size())).value_or(0);
}

Message chunk_message(std::string_view type, std::uint64_t id, json::Object header,
                      const Content& chunk) {
  header["chunk"] = chunk.header;
  Message message{.id = id, .type = std::string(type), .header = "", .attachment = chunk.bytes};
  json::write(message.header, header);
  return message;
}

// What may go on to a caller. Clients drop an answer of a type that they do not know, and their
// call would wait for ever.
Content fit_answer(const Content* content, const Participant& caller) {
  if (!content) return error_content(RoomCode::unexpected_response, "the answer is not JSON");
  if (auto flaw = flaw_of(content->header)) {
    return error_content(RoomCode::unexpected_response, cat("the answer is not one: ", *flaw));
  }
  if (kind_of(content->header) == ContentKind::raw &&
      caller.generation == ClientGeneration::old_npm) {
    return error_content(RoomCode::unexpected_response,
                         "the answer is of type raw, which this client does not know");
  }
  return *content;
}

}  // namespace

void Calls::begin(Begin begin) {
  forget_answered();
  Participant& caller = begin.caller;
  if (caller.calls_made >= limits_.calls_of_one_max ||
      begin.host.calls_taken >= limits_.calls_to_one_max) {
    return caller.respond_error(begin.request_id, RoomCode::operation_failed,
                                "too many calls are in flight");
  }
  const std::pair key(&caller, begin.call_id);
  if (!begin.call_id.empty() && by_call_id_.contains(key)) {
    return caller.respond_error(begin.request_id, RoomCode::invalid_request,
                                "a call with this tool_call_id is in flight");
  }
  const std::uint64_t number = ++last_number_;
  Call& call = calls_
                   .emplace(number, Call{.caller = &caller,
                                         .request_id = begin.request_id,
                                         .call_id = begin.call_id,
                                         .host = &begin.host,
                                         .toolkit = begin.toolkit,
                                         .tool = begin.tool})
                   .first->second;
  call.input_open = is_open(begin.arguments.header);
  if (!call.call_id.empty()) by_call_id_.emplace(key, number);
  ++caller.calls_made;
  ++begin.host.calls_taken;

  json::Object header = std::move(begin.header);
  header["name"] = begin.tool;
  header["arguments"] = std::move(begin.arguments.header);
  header["caller_id"] = caller.id;
  header["tool_call_id"] = host_call_id(number);
  Message message{.id = number,
                  .type = cat("room.tool_call.", begin.toolkit),
                  .header = "",
                  .attachment = std::move(begin.arguments.bytes)};
  json::write(message.header, header);
  begin.host.outlet.send(message);
  if (call.input_open) pass_early(number, call);
}

void Calls::take_input(Participant& caller, std::string_view call_id, Content chunk) {
  forget_answered();
  auto known = by_call_id_.find({&caller, std::string(call_id)});
  if (known == by_call_id_.end()) return keep_early(caller, call_id, std::move(chunk));
  auto call = calls_.find(known->second);
  // What comes after the call is over, or after its input was closed, is of use to nobody.
  if (call->second.input_open && call->second.phase != Phase::answered) {
    pass_input(call->first, call->second, chunk);
  }
}

void Calls::pass_input(std::uint64_t number, Call& call, const Content& chunk) {
  if (is_close(chunk.header)) call.input_open = false;
  call.host->outlet.send(chunk_message(cat("room.tool_call_request_chunk.", call.toolkit), number,
                                       {{"tool_call_id", host_call_id(number)}}, chunk));
}

void Calls::pass_output(const Call& call, const Content& chunk) {
  call.caller->outlet.send(chunk_message(
      "room.tool_call_response_chunk", call.request_id,
      {{"tool_call_id", call.call_id}, {"toolkit", call.toolkit}, {"tool", call.tool}}, chunk));
}

// A chunk may overtake its call, because clients send both without waiting.
void Calls::keep_early(Participant& caller, std::string_view call_id, Content chunk) {
  if (call_id.empty()) return;
  std::string header;
  json::write(header, chunk.header);
  const std::size_t size = header.size() + chunk.bytes.size() + call_id.size();
  if (size > limits_.early_bytes_max) return;
  caller.early.push_back({std::string(call_id), std::move(chunk), size});
  caller.early_bytes += size;
  while (caller.early.size() > limits_.early_chunks_max ||
         caller.early_bytes > limits_.early_bytes_max) {
    caller.early_bytes -= caller.early.front().size;
    caller.early.pop_front();
  }
}

void Calls::pass_early(std::uint64_t number, Call& call) {
  std::deque<EarlyChunk> rest;
  for (EarlyChunk& early : std::exchange(call.caller->early, {})) {
    if (early.call_id != call.call_id) {
      rest.push_back(std::move(early));
      continue;
    }
    call.caller->early_bytes -= early.size;
    if (call.input_open) pass_input(number, call, early.chunk);
  }
  call.caller->early = std::move(rest);
}

Calls::Map::iterator Calls::find(const Participant& host, std::uint64_t number) {
  auto call = calls_.find(number);
  return call != calls_.end() && call->second.host == &host ? call : calls_.end();
}

void Calls::take_answer(Participant& host, std::uint64_t number, const Content* content) {
  auto found = find(host, number);
  if (found == calls_.end() || found->second.phase != Phase::waiting) return;
  Call& call = found->second;
  Content answer = fit_answer(content, *call.caller);
  call.caller->respond(call.request_id, answer);
  if (is_open(answer.header) && !call.call_id.empty()) {
    call.phase = Phase::streaming;
    return;
  }
  end(found);
}

void Calls::take_output(Participant& host, std::string_view call_id, const Content* chunk) {
  auto found = find(host, number_of(call_id));
  if (found == calls_.end()) return;
  Call& call = found->second;
  if (!chunk) {
    // An item is lost, so that the rest of the stream would be wrong.
    if (call.phase == Phase::streaming) {
      pass_output(call, close_content(1011, "a chunk of the answer is not JSON"));
      end(found);
    }
    return;
  }
  // Without an id of its own the caller could not tell which call the chunk belongs to.
  if (!call.call_id.empty()) pass_output(call, *chunk);
  if (call.phase == Phase::streaming && is_close(chunk->header)) end(found);
}

// The call is answered. It is kept for a while if its host may still tell of progress.
void Calls::end(Map::iterator call) {
  if (call->second.call_id.empty()) {
    erase(call);
    return;
  }
  call->second.phase = Phase::answered;
  --call->second.caller->calls_made;
  --call->second.host->calls_taken;
  answered_.emplace_back(timers_.now() + limits_.progress_after_answer, call->first);
  forget_answered();
}

Calls::Map::iterator Calls::erase(Map::iterator found) {
  const Call& call = found->second;
  if (call.phase == Phase::answered) {
    std::erase_if(answered_, [&](const auto& one) { return one.second == found->first; });
  } else {
    --call.caller->calls_made;
    --call.host->calls_taken;
  }
  if (!call.call_id.empty()) by_call_id_.erase({call.caller, call.call_id});
  return calls_.erase(found);
}

void Calls::forget_answered() {
  while (!answered_.empty() && (answered_.front().first <= timers_.now() ||
                                answered_.size() > limits_.answered_calls_max)) {
    auto call = calls_.find(answered_.front().second);
    answered_.pop_front();
    by_call_id_.erase({call->second.caller, call->second.call_id});
    calls_.erase(call);
  }
}

void Calls::lose_host(const Call& call, std::string_view why) {
  if (call.phase == Phase::waiting) {
    call.caller->respond_error(call.request_id, RoomCode::operation_failed, why);
  } else if (call.phase == Phase::streaming) {
    pass_output(call, close_content(1011, why));
  }
}

void Calls::leave(const Participant& participant) {
  for (auto one = calls_.begin(); one != calls_.end();) {
    Call& call = one->second;
    if (call.caller != &participant && call.host != &participant) {
      ++one;
      continue;
    }
    if (call.caller != &participant) {
      lose_host(call, cat("the host of toolkit ", call.toolkit, " has left the room"));
    } else if (call.host != &participant && call.input_open && call.phase != Phase::answered) {
      pass_input(one->first, call, close_content(1001, "the caller has left the room"));
    }
    one = erase(one);
  }
}

void Calls::lose_toolkit(const Participant& host, std::string_view toolkit) {
  for (auto one = calls_.begin(); one != calls_.end();) {
    Call& call = one->second;
    if (call.host != &host || call.toolkit != toolkit) {
      ++one;
      continue;
    }
    lose_host(call, cat("the host of toolkit ", call.toolkit, " has connected again"));
    one = erase(one);
  }
}

}  // namespace errand::room
