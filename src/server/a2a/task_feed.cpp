#include "server/a2a/task_feed.hpp"

#include <utility>

#include "base/text.hpp"
#include "store/segment_events.hpp"

namespace errand::server {

TaskFeed::TaskFeed(std::unique_ptr<engine::Subscription> subscription, rpc::Id request,
                   a2a::Version version, const a2a::Task& task)
    : subscription_(std::move(subscription)),
      request_(std::move(request)),
      version_(version),
      events_(task.id, task.context_id) {
  add(first_, task);
}

void TaskFeed::add(std::string& frames, const a2a::StreamEvent& event) const {
  rpc::Response response{.id = request_, .answer = json::Value(a2a::event_json(event, version_))};
  append(frames, "data: ", rpc::write(response), "\n\n");
}

Task<net::EventFeed::Chunk> TaskFeed::read(SteadyTime deadline) {
  if (!first_.empty()) co_return Chunk{.state = State::more, .frames = std::exchange(first_, {})};
  for (;;) {
    auto batch = co_await subscription_->next(deadline);
    using From = engine::Subscription::Batch::State;
    if (batch.state == From::broken) co_return Chunk{.state = State::broken};
    if (batch.state == From::idle) co_return Chunk{.state = State::idle};
    for (const SegmentPtr& segment : batch.segments) {
      for_each_event(*segment, batch.after, [this](std::string_view line) {
        // What the log holds was written here; a line that cannot be read says nothing to A2A.
        auto event = errand::parse_event(line);
        if (event) events_.take(event->event);
      });
    }
    Chunk chunk{.state = batch.state == From::ended ? State::ended : State::more};
    for (const a2a::StreamEvent& event : events_.drain()) add(chunk.frames, event);
    if (!chunk.frames.empty() || chunk.state == State::ended) co_return chunk;
  }
}

}  // namespace errand::server
