#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/residency/subscription.hpp"
#include "sdk/run_api.hpp"

namespace errand::sdk {

// How events have come to readers in this process.
struct EventCounters {
  std::size_t structs = 0;  // as the run's owner made them
  std::size_t parsed = 0;   // as lines of the store
};

// The events of a run in this process, from a subscription.
class EmbeddedEvents final : public EventSource {
 public:
  // `counters` outlives this.
  EmbeddedEvents(std::unique_ptr<engine::Subscription> subscription, EventCounters& counters)
      : subscription_(std::move(subscription)), counters_(counters) {
    subscription_->hear_retries();
  }

  Task<Result<Heard>> read() override;

 private:
  Result<void> take(const Segment& segment, EventSeq after, std::vector<StampedEvent>& out);

  const std::unique_ptr<engine::Subscription> subscription_;
  EventCounters& counters_;
};

}  // namespace errand::sdk
