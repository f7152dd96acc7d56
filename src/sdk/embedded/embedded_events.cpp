#include "sdk/embedded/embedded_events.hpp"

#include <utility>

#include "base/text.hpp"

namespace errand::sdk {

Task<Result<Heard>> EmbeddedEvents::read() {
  using State = engine::Subscription::Batch::State;
  auto batch = co_await subscription_->next(SteadyTime::max());
  if (batch.state == State::broken) {
    co_return Error(ErrorCode::unavailable, "the store does not give the events of the run");
  }
  if (batch.state == State::ended && batch.segments.empty()) {
    co_return Error(ErrorCode::unavailable, "the stream ended before the run did");
  }
  Heard heard{.retry = std::move(batch.retry)};
  for (const SegmentPtr& segment : batch.segments) {
    ERRAND_CO_CHECK(take_events(*segment, batch.after, heard.events));
  }
  co_return heard;
}

Result<void> take_events(const Segment& segment, EventSeq after, std::vector<StampedEvent>& out) {
  if (segment.typed.size() == static_cast<std::size_t>(segment.events_count)) {
    for (const StampedEvent& event : segment.typed) {
      if (event.seq > after) out.push_back(event);
    }
    return {};
  }
  for (std::string_view rest = segment.events; !rest.empty();) {
    ERRAND_TRY(auto event, parse_event(take_line(rest)));
    if (event.seq > after) out.push_back(std::move(event));
  }
  return {};
}

}  // namespace errand::sdk
