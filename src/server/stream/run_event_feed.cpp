#include "server/stream/run_event_feed.hpp"

#include <utility>

#include "server/stream/sse_frame.hpp"

namespace errand::server {

RunEventFeed::RunEventFeed(std::unique_ptr<engine::Subscription> subscription, const Timers& timers)
    : subscription_(std::move(subscription)), timers_(timers), held_(subscription_->budget()) {}

Task<net::EventFeed::Chunk> RunEventFeed::read(SteadyTime deadline) {
  if (is_interrupted_) co_return Chunk{.state = State::broken, .frames = {}};
  while (pieces_.empty()) {
    auto batch = co_await subscription_->next(deadline);
    if (!batch.retry) {
      hold(batch);
      break;
    }
    const milliseconds left = batch.retry->left(timers_.now());
    if (left > milliseconds(0)) {
      co_return Chunk{.state = State::more, .frames = retry_frame(batch.retry->why, left)};
    }
  }
  co_return take();
}

void RunEventFeed::hold(engine::Subscription::Batch& batch) {
  using From = engine::Subscription::Batch::State;
  switch (batch.state) {
    case From::more: after_pieces_ = State::more; break;
    case From::idle: after_pieces_ = State::idle; break;
    case From::ended: after_pieces_ = State::ended; break;
    case From::broken: after_pieces_ = State::broken; break;
  }
  hold(FramePieces(std::move(batch)));
  // A batch that was released halfway continues where it stopped.
  if (after_pieces_ != State::idle) pieces_.skip(std::exchange(sent_, 0));
}

net::EventFeed::Chunk RunEventFeed::take() {
  Chunk chunk{.state = State::more, .frames = pieces_.take(kChunkBytesMax)};
  if (pieces_.empty()) {
    chunk.state = after_pieces_;
    held_.set(0);
  }
  return chunk;
}

void RunEventFeed::hold(FramePieces pieces) {
  held_.set(pieces.held_bytes());
  pieces_ = std::move(pieces);
}

void RunEventFeed::release() {
  if (pieces_.empty() || !subscription_->budget().is_exceeded()) return;
  const FramePieces::Position at = pieces_.position();
  subscription_->rewind(at.after);
  sent_ = at.sent;
  hold({});
}

void RunEventFeed::interrupt() {
  is_interrupted_ = true;
  subscription_->interrupt();
}

}  // namespace errand::server
