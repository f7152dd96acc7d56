#pragma once

#include <memory>
#include <string>

#include "engine/subscription.hpp"
#include "net/event_feed.hpp"

namespace errand::server {

// A run's events as server-sent events, from a subscription.
class RunEventFeed final : public net::EventFeed {
 public:
  explicit RunEventFeed(std::unique_ptr<engine::Subscription> subscription);

  Task<Chunk> read(SteadyTime deadline) override;
  void interrupt() override;

 private:
  std::unique_ptr<engine::Subscription> subscription_;
};

// Calls visit(line) for each event line of the segment with seq > after.
template <class Visit>
void for_each_event(const Segment& segment, EventSeq after, Visit visit) {
  std::string_view rest = segment.events;
  for (EventSeq seq = segment.first_seq(); !rest.empty(); ++seq) {
    std::size_t end = rest.find('\n');
    if (seq > after) visit(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
}

}  // namespace errand::server
