#include "a2a/server/task_feed.hpp"

#include <utility>

#include "base/text.hpp"

namespace errand::a2a {

TaskFeed::TaskFeed(std::unique_ptr<TaskSource> source, rpc::Id request, Version version, Ends ends,
                   const StreamEvent& first)
    : source_(std::move(source)), request_(std::move(request)), version_(version), ends_(ends) {
  add(first_, first);
}

void TaskFeed::add(std::string& frames, const StreamEvent& event) const {
  rpc::Response response{.id = request_, .answer = json::Value(event_json(event, version_))};
  append(frames, "data: ", rpc::write(response), "\n\n");
}

bool TaskFeed::is_last(const StreamEvent& event) const {
  const auto* update = std::get_if<StatusUpdate>(&event);
  if (!update) return false;
  const TaskState state = update->status.state;
  return is_terminal(state) || (ends_ == Ends::at_rest && is_interrupted(state));
}

::errand::Task<net::EventFeed::Chunk> TaskFeed::read(SteadyTime deadline) {
  if (!first_.empty()) {
    co_return Chunk{.state = source_ ? State::more : State::ended,
                    .frames = std::exchange(first_, {})};
  }
  for (;;) {
    auto batch = co_await source_->read(deadline);
    Chunk chunk{.state = batch.state};
    for (const StreamEvent& event : batch.events) {
      add(chunk.frames, event);
      if (!is_last(event)) continue;
      chunk.state = State::ended;
      break;
    }
    if (!chunk.frames.empty() || chunk.state != State::more) co_return chunk;
  }
}

void TaskFeed::interrupt() {
  if (source_) source_->interrupt();
}

net::Response stream_response(std::unique_ptr<TaskFeed> feed) {
  net::Response response;
  response.content_type = "text/event-stream";
  response.headers.push_back({"Cache-Control", "no-cache"});
  response.headers.push_back({"X-Accel-Buffering", "no"});
  response.events = std::move(feed);
  return response;
}

}  // namespace errand::a2a
