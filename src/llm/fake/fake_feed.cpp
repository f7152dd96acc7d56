#include "llm/fake/fake_feed.hpp"

#include <algorithm>
#include <utility>

namespace errand::llm {
namespace {

SteadyTime steady_now() {
  return std::chrono::steady_clock::now();
}

}  // namespace

FakeFeed::FakeFeed(std::vector<Step> steps, End end, Executor home)
    : steps_(std::move(steps)), end_(end), due_(steady_now()), wakeup_(std::move(home)) {
  if (!steps_.empty()) due_ += steps_.front().delay;
}

Task<net::EventFeed::Chunk> FakeFeed::read(SteadyTime deadline) {
  for (;;) {
    if (interrupted_) co_return Chunk{.state = State::broken};
    SteadyTime now = steady_now();
    if (is_due(now)) {
      Chunk chunk = take(now);
      if (chunk.state != State::more || !chunk.frames.empty()) co_return chunk;
      continue;
    }
    if (deadline <= now) co_return Chunk{.state = State::idle};
    co_await wakeup_.wait_until(std::min(due_, deadline));
  }
}

// Takes every step that is due. A reset comes alone, because frames taken with it would be lost.
net::EventFeed::Chunk FakeFeed::take(SteadyTime now) {
  Chunk chunk;
  while (next_ < steps_.size() && due_ <= now && chunk.frames.size() < kChunkBytesMax) {
    chunk.frames += std::exchange(steps_[next_].frames, {});
    ++next_;
    if (next_ < steps_.size()) due_ += steps_[next_].delay;
  }
  if (next_ < steps_.size()) return chunk;
  if (end_ == End::clean) chunk.state = State::ended;
  if (end_ == End::broken && chunk.frames.empty()) chunk.state = State::broken;
  return chunk;
}

void FakeFeed::interrupt() {
  interrupted_ = true;
  wakeup_.notify();
}

}  // namespace errand::llm
