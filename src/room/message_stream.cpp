#include "room/message_stream.hpp"

#include <utility>

#include "json/members.hpp"
#include "room/builtin.hpp"

namespace errand::room {

MessageStream::~MessageStream() {
  close_other(close_content(kCallerGone, "the caller has left"));
}

void MessageStream::close_other(const Content& close) {
  phase_ = Phase::over;
  if (auto number = std::exchange(other_, std::nullopt)) calls_.pass_on(*number, close);
}

void MessageStream::take_input(const Content& chunk) {
  if (phase_ == Phase::over) return;
  if (is_close(chunk.header)) {
    const bool was_open = phase_ == Phase::open;
    close_other(chunk);
    if (was_open) return reply_.output(close_content());
    return reply_.fail(
        error_content(RoomCode::invalid_request, "the stream was closed before it was accepted"));
  }
  if (phase_ == Phase::unasked) return ask(chunk);
  if (phase_ == Phase::open) return calls_.pass_on(*other_, chunk);
  close_other(close_content(1002, "a message came before the stream was accepted"));
  reply_.fail(
      error_content(RoomCode::invalid_request, "a message came before the stream was accepted"));
}

void MessageStream::ask(const Content& first) {
  auto sent = parse_sent_message(first);
  if (!sent) {
    phase_ = Phase::over;
    return reply_.fail(error_content(RoomCode::invalid_request, sent.error().describe()));
  }
  Participant* other = find_other_(sent->to);
  if (!other) {
    phase_ = Phase::over;
    return reply_.fail(error_content(RoomCode::not_found, kNoParticipant));
  }
  phase_ = Phase::asked;
  other_ = calls_.begin_for(shared_from_this(), {.caller = caller_,
                                                 .host = *other,
                                                 .toolkit = "messaging",
                                                 .tool = "stream",
                                                 .arguments = open_content()});
  if (!other_) {
    phase_ = Phase::over;
    return reply_.fail(error_content(RoomCode::operation_failed, "too many calls are in flight"));
  }
  json::Object request{{"from_participant_id", caller_.id}};
  for (const auto& [key, value] : *json::object_at(&first.header, "json")) {
    if (key != "to_participant_id" && key != "from_participant_id") request[key] = value;
  }
  calls_.pass_on(*other_, json_content(std::move(request)));
}

void MessageStream::take_answer(const Content& content) {
  if (phase_ != Phase::asked) return;
  if (!is_open(content.header)) {
    other_.reset();
    phase_ = Phase::over;
    const bool is_error = kind_of(content.header) == ContentKind::error;
    return reply_.fail(is_error ? content
                                : error_content(RoomCode::unexpected_response,
                                                "the other side neither accepts nor refuses"));
  }
  phase_ = Phase::open;
  reply_.answer(open_content());
  reply_.output(
      json_content(json::Object{{"kind", "accepted"}, {"stream_id", Calls::host_id(*other_)}}));
}

void MessageStream::take_output(const Content& chunk) {
  if (phase_ != Phase::open) return;
  if (is_close(chunk.header)) {
    other_.reset();
    phase_ = Phase::over;
  }
  reply_.output(chunk);
}

}  // namespace errand::room
