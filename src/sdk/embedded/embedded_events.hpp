#pragma once

#include <memory>
#include <vector>

#include "engine/residency/subscription.hpp"
#include "sdk/run_api.hpp"

namespace errand::sdk {

// Appends the events of a segment that follow `after`: the structs of the run's owner as they are.
// Only a segment that was read from the store has none, and its lines are parsed.
Result<void> take_events(const Segment& segment, EventSeq after, std::vector<StampedEvent>& out);

// The events of a run in this process, from a subscription.
class EmbeddedEvents final : public EventSource {
 public:
  explicit EmbeddedEvents(std::unique_ptr<engine::Subscription> subscription)
      : subscription_(std::move(subscription)) {
    subscription_->hear_retries();
  }

  Task<Result<Heard>> read() override;

 private:
  const std::unique_ptr<engine::Subscription> subscription_;
};

}  // namespace errand::sdk
