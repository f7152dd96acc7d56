#include "mcp/server/http_reply.hpp"

#include <utility>

#include "base/text.hpp"

namespace errand::mcp {

void HttpReply::put(rpc::Outgoing message) {
  if (is_over_ || is_abandoned_) return;
  hold(bytes_ + message.text.size());
  if (is_too_much()) return cut();
  texts_.push_back(std::move(message.text));
  error_code_ = message.error_code;
  if (message.answers) {
    open_.erase(*message.answers);
    if (open_.empty()) is_over_ = true;
  }
  ready_.notify();
}

void HttpReply::hold(std::size_t bytes) {
  bytes_ = bytes;
  if (held_) held_->set(bytes);
}

bool HttpReply::is_too_much() const {
  return bytes_ > kBytesMax || (bytes_ > kFairBytes && held_ && held_->is_exceeded());
}

void HttpReply::cut() {
  is_cut_ = true;
  texts_.clear();
  hold(0);
  end();
}

void HttpReply::drop(const rpc::Id& id) {
  open_.erase(id);
  if (open_.empty()) end();
}

void HttpReply::end() {
  is_over_ = true;
  ready_.notify();
}

void HttpReply::abandon() {
  is_abandoned_ = true;
  texts_.clear();
  hold(0);
  ready_.notify();
}

Task<Wakeup::Woken> HttpReply::wait_until(SteadyTime deadline) {
  while (texts_.empty() && !is_over_ && !is_abandoned_) {
    Wakeup::Woken woken = co_await ready_.wait_until(deadline);
    if (woken == Wakeup::Woken::timed_out) co_return woken;
  }
  co_return Wakeup::Woken::rung;
}

std::string HttpReply::take_single() {
  hold(0);
  return std::move(texts_.front());
}

std::string HttpReply::take_frames() {
  std::string frames;
  frames.reserve(bytes_ + texts_.size() * 32);
  // A message is one line of JSON, and so one line of data.
  for (const std::string& text : texts_) append(frames, "event: message\ndata: ", text, "\n\n");
  texts_.clear();
  hold(0);
  return frames;
}

HttpReplyFeed::~HttpReplyFeed() {
  reply_->abandon();
  on_left_();
}

Task<net::EventFeed::Chunk> HttpReplyFeed::read(SteadyTime deadline) {
  Wakeup::Woken woken = co_await reply_->wait_until(deadline);
  if (reply_->is_abandoned() || reply_->is_cut()) co_return Chunk{.state = State::broken};
  if (woken == Wakeup::Woken::timed_out) co_return Chunk{.state = State::idle};
  State state = reply_->is_over() ? State::ended : State::more;
  co_return Chunk{.state = state, .frames = reply_->take_frames()};
}

}  // namespace errand::mcp
