#include "mcp/server/http_session.hpp"

#include <utility>

namespace errand::mcp {

HttpSession::HttpSession(const Executor& home, std::shared_ptr<ServerFeatures> features,
                         TaskGroup::OnBug on_bug, ReaderBudget* readers)
    : home_(home),
      readers_(readers),
      features_(std::move(features)),
      dispatcher_(*features_),
      inbox_(home),
      peer_(home, *this, dispatcher_, std::move(on_bug),
            {.noise = rpc::PeerOptions::Noise::answered}) {
  peer_.start();
}

std::shared_ptr<HttpReply> HttpSession::post(std::vector<rpc::Incoming> messages) {
  std::shared_ptr<HttpReply> reply;
  for (rpc::Incoming& message : messages) {
    if (const auto* request = std::get_if<rpc::Request>(&message)) {
      if (!reply) reply = std::make_shared<HttpReply>(home_, readers_);
      reply->expect(request->id);
      replies_[request->id] = reply;
    }
    inbox_.put(std::move(message));
  }
  return reply;
}

std::shared_ptr<HttpReply> HttpSession::open_stream() {
  if (has_stream()) return nullptr;
  stream_ = std::make_shared<HttpReply>(home_, readers_);
  for (rpc::Outgoing& message : std::exchange(unsent_, {})) stream_->put(std::move(message));
  return stream_;
}

Result<void> HttpSession::send(rpc::Outgoing message) {
  const std::optional<rpc::Id>& of = message.answers ? message.answers : message.belongs_to;
  auto found = of ? replies_.find(*of) : replies_.end();
  bool is_read = found != replies_.end() && !found->second->is_abandoned();
  if (is_read) {
    std::shared_ptr<HttpReply> reply = found->second;
    if (message.answers) replies_.erase(found);
    reply->put(std::move(message));
    return {};
  }
  if (message.answers) {
    if (found != replies_.end()) replies_.erase(found);
    return {};
  }
  if (has_stream()) {
    stream_->put(std::move(message));
    return {};
  }
  if (unsent_.size() >= kUnsentMax) unsent_.pop_front();
  unsent_.push_back(std::move(message));
  return {};
}

// A client gets no answer to a request that it cancelled, so the reply must not stay open for one.
void HttpSession::dropped(const rpc::Id& id) {
  auto found = replies_.find(id);
  if (found == replies_.end()) return;
  std::shared_ptr<HttpReply> reply = std::move(found->second);
  replies_.erase(found);
  reply->drop(id);
}

void HttpSession::close() {
  inbox_.close({});
  for (auto& [id, reply] : std::exchange(replies_, {})) reply->end();
  if (stream_) stream_->end();
}

Task<void> HttpSession::stop() {
  return peer_.stop();
}

}  // namespace errand::mcp
