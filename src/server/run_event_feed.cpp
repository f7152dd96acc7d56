#include "server/run_event_feed.hpp"

#include <utility>

#include "server/sse_frame.hpp"
#include "store/segment_events.hpp"

namespace errand::server {
namespace {

std::string frames_of(const engine::Subscription::Batch& batch) {
  std::string frames;
  std::size_t bytes = 0;
  for (const SegmentPtr& segment : batch.segments) bytes += segment->events.size() * 2 + 64;
  frames.reserve(bytes);
  for (const SegmentPtr& segment : batch.segments) {
    for_each_event(*segment, batch.after,
                   [&](std::string_view line) { append_sse_frame(frames, line); });
  }
  return frames;
}

}  // namespace

RunEventFeed::RunEventFeed(std::unique_ptr<engine::Subscription> subscription)
    : subscription_(std::move(subscription)) {}

Task<net::EventFeed::Chunk> RunEventFeed::read(SteadyTime deadline) {
  auto batch = co_await subscription_->next(deadline);
  using From = engine::Subscription::Batch::State;
  Chunk chunk;
  switch (batch.state) {
    case From::more: chunk.state = State::more; break;
    case From::idle: chunk.state = State::idle; break;
    case From::ended: chunk.state = State::ended; break;
    case From::broken: chunk.state = State::broken; break;
  }
  chunk.frames = frames_of(batch);
  co_return chunk;
}

void RunEventFeed::interrupt() {
  subscription_->interrupt();
}

}  // namespace errand::server
