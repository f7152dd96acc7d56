#pragma once

#include <memory>
#include <string>

#include "async/timers.hpp"
#include "engine/residency/subscription.hpp"
#include "net/event_feed.hpp"
#include "server/stream/frame_pieces.hpp"

namespace errand::server {

// A run's events as server-sent events, from a subscription.
class RunEventFeed final : public net::EventFeed {
 public:
  // `timers` outlive the feed.
  RunEventFeed(std::unique_ptr<engine::Subscription> subscription, const Timers& timers);

  Task<Chunk> read(SteadyTime deadline) override;
  void interrupt() override;
  // If readers hold too much together: unsent events are read from the store again.
  void release() override;

 private:
  void hold(engine::Subscription::Batch& batch);
  void hold(FramePieces pieces);
  Chunk take();

  std::unique_ptr<engine::Subscription> subscription_;
  const Timers& timers_;
  FramePieces pieces_;  // of what the subscription gave last
  ReaderBudget::Share held_;
  std::size_t sent_ = 0;  // of the event that comes next, which was released
  State after_pieces_ = State::more;
  bool is_interrupted_ = false;
};

}  // namespace errand::server
