#include "room/calls.hpp"

#include <vector>

#include "base/text.hpp"
#include "json/write.hpp"

namespace errand::room {
namespace {

constexpr std::string_view kCallPrefix = "call-";

std::uint64_t number_of(std::string_view call_id) {
  if (!call_id.starts_with(kCallPrefix)) return 0;
  return parse_integer<std::uint64_t>(call_id.substr(kCallPrefix.size())).value_or(0);
}

Message chunk_message(std::string_view type, std::uint64_t id, json::Object header, Content chunk) {
  header["chunk"] = std::move(chunk.header);
  Message message{
      .id = id, .type = std::string(type), .header = "", .attachment = std::move(chunk.bytes)};
  json::write(message.header, header);
  return message;
}

// Answers a call that cannot begin.
template <class Begin>
void answer_at_once(const Begin& begin, const Content& refusal) {
  if (begin.span) begin.span->end(refusal);
  begin.caller.respond(begin.request_id, refusal);
}

// An item of a stream, or an answer, in a form that this caller can read.
Content fit_item(Content content, const Participant& caller) {
  if (kind_of(content.header) != ContentKind::raw) return content;
  if (caller.generation != ClientGeneration::old_npm) return content;
  return error_content(RoomCode::unexpected_response,
                       "the answer is of type raw, which this client does not know");
}

// The answer that a caller gets. Clients drop an answer of a type that they do not know, and their
// call would wait for ever.
Content fit_answer(std::optional<Content> content, const Participant& caller) {
  if (!content) return error_content(RoomCode::unexpected_response, "the answer is not JSON");
  if (auto flaw = flaw_of(content->header)) {
    return error_content(RoomCode::unexpected_response, cat("the answer is not one: ", *flaw));
  }
  return fit_item(std::move(*content), caller);
}

}  // namespace

// A call that the room itself serves may call back here when it is destroyed, and then finds no
// calls.
Calls::~Calls() {
  std::vector<std::shared_ptr<LocalCall>> locals;
  for (auto& [number, call] : calls_) locals.push_back(std::move(call.local));
  calls_.clear();
}

std::string Calls::host_id(std::uint64_t number) {
  return cat(kCallPrefix, number);
}

std::optional<Content> Calls::refuse(const Participant& caller, const std::string& call_id) {
  forget_answered();
  if (call_id.size() > limits_.kept_name_bytes_max) {
    return error_content(RoomCode::invalid_request, "the tool_call_id is too long");
  }
  if (caller.calls_made >= limits_.calls_of_one_max) {
    return error_content(RoomCode::invalid_state, "too many calls are in flight");
  }
  auto known = by_call_id_.find({&caller, call_id});
  if (known == by_call_id_.end()) return std::nullopt;
  // A call that is over only waits for late progress, so a new call with its id replaces it.
  auto call = calls_.find(known->second);
  if (call->second.phase == Phase::answered) {
    erase(call);
    return std::nullopt;
  }
  return error_content(RoomCode::invalid_request, "a call with this tool_call_id is in flight");
}

void Calls::begin(Begin begin) {
  auto refusal = refuse(begin.caller, begin.call_id);
  if (!refusal && begin.host.calls_taken >= limits_.calls_to_one_max) {
    refusal = error_content(RoomCode::invalid_state, "the host has too many calls in flight");
  }
  if (refusal) return answer_at_once(begin, *refusal);
  const bool has_input = is_open(begin.arguments.header);
  const std::uint64_t number = pass_call(std::move(begin));
  if (has_input) pass_early(number);
}

std::optional<std::uint64_t> Calls::begin_for(const std::shared_ptr<AnswerTaker>& taker,
                                              Begin begin) {
  if (begin.caller.calls_made >= limits_.calls_of_one_max ||
      begin.host.calls_taken >= limits_.calls_to_one_max) {
    return std::nullopt;
  }
  const std::uint64_t number = pass_call(std::move(begin));
  calls_.at(number).taker = taker;
  return number;
}

std::uint64_t Calls::pass_call(Begin begin) {
  Participant& caller = begin.caller;
  const std::uint64_t number = ++last_number_;
  Call& call = calls_
                   .emplace(number, Call{.caller = &caller,
                                         .request_id = begin.request_id,
                                         .call_id = begin.call_id,
                                         .host = &begin.host,
                                         .toolkit = begin.toolkit,
                                         .tool = begin.tool,
                                         .takes_cancel = begin.takes_cancel,
                                         .span = std::move(begin.span)})
                   .first->second;
  call.input_open = is_open(begin.arguments.header);
  if (!call.call_id.empty()) by_call_id_.emplace(std::pair(&caller, begin.call_id), number);
  ++caller.calls_made;
  ++begin.host.calls_taken;

  json::Object header = std::move(begin.header);
  header["name"] = begin.tool;
  header["arguments"] = std::move(begin.arguments.header);
  header["caller_id"] = caller.id;
  header["tool_call_id"] = host_id(number);
  Message message{.id = number,
                  .type = cat("room.tool_call.", begin.toolkit),
                  .header = "",
                  .attachment = std::move(begin.arguments.bytes)};
  json::write(message.header, header);
  begin.host.outlet.send(message);
  return number;
}

void Calls::pass_on(std::uint64_t number, Content chunk) {
  auto call = calls_.find(number);
  if (call == calls_.end()) return;
  const bool ends = is_close(chunk.header);
  pass_input(number, std::move(chunk));
  if (ends) erase(call);
}

void Calls::begin_local(BeginLocal begin, const MakeLocal& make) {
  Participant& caller = begin.caller;
  auto refusal = refuse(caller, begin.call_id);
  if (begin.call_id.empty()) {
    refusal = error_content(RoomCode::invalid_request, "a streamed call needs a tool_call_id");
  }
  if (refusal) return answer_at_once(begin, *refusal);
  const std::uint64_t number = ++last_number_;
  Call& call = calls_
                   .emplace(number, Call{.caller = &caller,
                                         .request_id = begin.request_id,
                                         .call_id = begin.call_id,
                                         .host = nullptr,
                                         .toolkit = std::move(begin.toolkit),
                                         .tool = std::move(begin.tool),
                                         .input_open = true,
                                         .span = std::move(begin.span)})
                   .first->second;
  by_call_id_.emplace(std::pair(&caller, std::move(begin.call_id)), number);
  ++caller.calls_made;
  call.local = make(Reply(*this, number));
  pass_early(number);
}

void Calls::Reply::answer(Content content) const {
  auto call = calls_->find(nullptr, number_);
  if (call != calls_->calls_.end() && call->second.phase == Phase::waiting) {
    calls_->give_answer(call, std::move(content));
  }
}

void Calls::Reply::output(Content chunk) const {
  auto call = calls_->find(nullptr, number_);
  if (call != calls_->calls_.end() && call->second.phase == Phase::streaming) {
    calls_->give_output(call, std::move(chunk));
  }
}

void Calls::Reply::fail(const Content& error) const {
  auto call = calls_->find(nullptr, number_);
  if (call == calls_->calls_.end()) return;
  if (call->second.phase == Phase::waiting) return answer(error);
  output(error);
  output(close_content());
}

void Calls::take_input(Participant& caller, std::string_view call_id, Content chunk) {
  forget_answered();
  auto known = by_call_id_.find({&caller, std::string(call_id)});
  if (known == by_call_id_.end()) return keep_early(caller, call_id, std::move(chunk));
  take_chunk(known->second, std::move(chunk));
}

void Calls::take_chunk(std::uint64_t number, Content chunk) {
  const bool gives_up = is_close(chunk.header) && close_status(chunk.header) == kCallerGone;
  pass_input(number, std::move(chunk));
  if (gives_up) give_up(number);
}

// The host may keep working, but no longer counts as busy with the call: otherwise a tool that
// hangs would use up its caller's calls one by one. The caller gets its answer all the same.
void Calls::give_up(std::uint64_t number) {
  auto found = calls_.find(number);
  if (found == calls_.end() || !found->second.host) return;
  if (found->second.phase == Phase::answered) return;
  const Call call = found->second;
  erase(found);
  constexpr std::string_view kWhy = "the caller has given the call up";
  if (call.phase == Phase::waiting) {
    pass_answer(call, error_content(RoomCode::operation_failed, kWhy));
  } else {
    pass_output(call, close_content(kCallerGone, kWhy));
  }
}

void Calls::pass_input(std::uint64_t number, Content chunk) {
  auto found = calls_.find(number);
  if (found == calls_.end()) return;
  Call& call = found->second;
  // Chunks after the end of a call, or after its input was closed, are ignored, except that the
  // caller may give up.
  const bool is_heard = call.input_open || (call.takes_cancel && is_close(chunk.header));
  if (!is_heard || call.phase == Phase::answered) return;
  if (is_close(chunk.header)) {
    if (!call.input_open) call.takes_cancel = false;
    call.input_open = false;
  }
  if (!call.host) {
    // Keeps the call alive, which may end inside this function.
    if (std::shared_ptr<LocalCall> local = call.local) local->take_input(chunk);
    return;
  }
  call.host->outlet.send(chunk_message(cat("room.tool_call_request_chunk.", call.toolkit), number,
                                       {{"tool_call_id", host_id(number)}}, std::move(chunk)));
}

void Calls::pass_answer(const Call& call, Content content) {
  if (!call.taker) return call.caller->respond(call.request_id, std::move(content));
  if (auto taker = call.taker->lock()) taker->take_answer(content);
}

void Calls::pass_output(const Call& call, Content chunk) {
  if (call.taker) {
    if (auto taker = call.taker->lock()) taker->take_output(chunk);
    return;
  }
  call.caller->outlet.send(chunk_message(
      "room.tool_call_response_chunk", call.request_id,
      {{"tool_call_id", call.call_id}, {"toolkit", call.toolkit}, {"tool", call.tool}},
      std::move(chunk)));
}

// A chunk may arrive before its call, because clients send both without waiting.
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

void Calls::pass_early(std::uint64_t number) {
  const Call& call = calls_.at(number);
  std::vector<Content> chunks;
  std::list<EarlyChunk> rest;
  for (EarlyChunk& early : std::exchange(call.caller->early, {})) {
    if (early.call_id != call.call_id) {
      rest.push_back(std::move(early));
      continue;
    }
    call.caller->early_bytes -= early.size;
    chunks.push_back(std::move(early.chunk));
  }
  call.caller->early = std::move(rest);
  for (Content& chunk : chunks) take_chunk(number, std::move(chunk));
}

Calls::Map::iterator Calls::find(const Participant* host, std::uint64_t number) {
  auto call = calls_.find(number);
  return call != calls_.end() && call->second.host == host ? call : calls_.end();
}

void Calls::take_answer(Participant& host, std::uint64_t number, std::optional<Content> content) {
  auto found = find(&host, number);
  if (found == calls_.end() || found->second.phase != Phase::waiting) return;
  give_answer(found, fit_answer(std::move(content), *found->second.caller));
}

void Calls::give_answer(Map::iterator found, Content answer) {
  Call& call = found->second;
  const bool is_stream = is_open(answer.header);
  if (is_stream && call.call_id.empty() && !call.taker) {
    const Content refusal = error_content(RoomCode::unexpected_response,
                                          "the tool answers with a stream, for which the call "
                                          "needs a tool_call_id");
    if (call.span) call.span->end(refusal);
    call.caller->respond(call.request_id, refusal);
    return end(found);
  }
  if (is_stream) {
    call.phase = Phase::streaming;
    if (call.span) call.span->open();
    return pass_answer(call, std::move(answer));
  }
  const Call ended = call;
  end(found);
  if (ended.span) ended.span->end(answer);
  pass_answer(ended, std::move(answer));
}

void Calls::give_output(Map::iterator found, Content chunk) {
  if (!is_close(chunk.header)) return pass_output(found->second, std::move(chunk));
  const Call ended = found->second;
  end(found);
  if (ended.span) ended.span->end(chunk);
  pass_output(ended, std::move(chunk));
}

void Calls::take_output(Participant& host, std::string_view call_id, std::optional<Content> chunk) {
  auto found = find(&host, number_of(call_id));
  if (found == calls_.end()) return;
  Call& call = found->second;
  if (!chunk) {
    // An item is lost, so the rest of the stream would be wrong.
    if (call.phase == Phase::streaming) {
      give_output(found, close_content(kHostGone, "a chunk of the answer is not JSON"));
    }
    return;
  }
  if (call.phase == Phase::streaming) {
    return give_output(found, fit_item(std::move(*chunk), *call.caller));
  }
  // Only a stream has control chunks; any other chunk is progress. A call without an id gets none,
  // because its caller could not tell which call the progress belongs to.
  const bool is_progress = kind_of(chunk->header) != ContentKind::control;
  if (is_progress && !call.call_id.empty()) pass_output(call, std::move(*chunk));
}

// The call is answered. It is kept for a while if its host may still report progress.
void Calls::end(Map::iterator call) {
  if (call->second.call_id.empty()) {
    erase(call);
    return;
  }
  call->second.phase = Phase::answered;
  --call->second.caller->calls_made;
  if (call->second.host) --call->second.host->calls_taken;
  // Destroyed last, because its destructor may call back here.
  const std::shared_ptr<LocalCall> gone = std::move(call->second.local);
  answered_.emplace_back(timers_.now() + limits_.progress_after_answer, call->first);
  forget_answered();
}

void Calls::erase(Map::iterator found) {
  const Call& call = found->second;
  if (call.phase == Phase::answered) {
    std::erase_if(answered_, [&](const auto& one) { return one.second == found->first; });
  } else {
    --call.caller->calls_made;
    if (call.host) --call.host->calls_taken;
  }
  if (!call.call_id.empty()) by_call_id_.erase({call.caller, call.call_id});
  const std::shared_ptr<LocalCall> gone = call.local;
  calls_.erase(found);
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
  if (call.phase == Phase::answered) return;
  const bool is_waiting = call.phase == Phase::waiting;
  Content end =
      is_waiting ? error_content(RoomCode::operation_failed, why) : close_content(kHostGone, why);
  if (call.span) call.span->end(end);
  if (is_waiting) {
    pass_answer(call, std::move(end));
  } else {
    pass_output(call, std::move(end));
  }
}

// Visits calls by number instead of by iterator, because the end of one call may end others.
template <class Matches>
std::vector<std::uint64_t> Calls::numbers_of(const Matches& matches) const {
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, call] : calls_) {
    if (matches(call)) numbers.push_back(number);
  }
  return numbers;
}

void Calls::leave(const Participant& participant) {
  for (std::uint64_t number : numbers_of([&](const Call& call) {
         return call.caller == &participant || call.host == &participant;
       })) {
    auto one = calls_.find(number);
    if (one == calls_.end()) continue;
    const Call call = one->second;
    if (call.caller == &participant && call.host && call.host != &participant) {
      pass_input(number, close_content(kCallerGone, "the caller has left the room"));
    }
    erase(one);
    if (call.caller != &participant) {
      lose_host(call, cat("the host of toolkit ", call.toolkit, " has left the room"));
    }
  }
}

void Calls::lose_toolkit(const Participant& host, std::string_view toolkit) {
  for (std::uint64_t number : numbers_of(
           [&](const Call& call) { return call.host == &host && call.toolkit == toolkit; })) {
    auto one = calls_.find(number);
    if (one == calls_.end()) continue;
    const Call call = one->second;
    erase(one);
    lose_host(call, cat("the host of toolkit ", call.toolkit, " has connected again"));
  }
}

}  // namespace errand::room
