#include "sdk/client/event_queue.hpp"

#include <utility>

#include <errand/runner.hpp>

#include "sdk/bridge/handler_pool.hpp"

namespace errand::sdk {

bool EventQueue::push(v1::Event event) {
  if (keep_ == Keep::end_only && !event.as<v1::RunEnded>()) return true;
  std::unique_lock lock(mutex_);
  if (is_abandoned_) return true;
  events_.push_back(std::move(event));
  was_full_ = events_.size() >= v1::RunStream::kEventsWaitingMax;
  bool has_room = !was_full_;
  lock.unlock();
  changed_.notify_one();
  tell_reader();
  return has_room;
}

void EventQueue::finish(std::optional<v1::Error> error) {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(is_finished_, true)) return;
    error_ = std::move(error);
  }
  changed_.notify_one();
  tell_reader();
}

void EventQueue::abandon() {
  bool was_full = false;
  std::function<void(Next)> waiting;
  {
    std::lock_guard lock(mutex_);
    is_abandoned_ = true;
    events_.clear();
    was_full = std::exchange(was_full_, false);
    waiting.swap(waiting_);
  }
  if (was_full) on_room_();
  if (waiting) waiting(v1::Error(v1::ErrorCode::cancelled, "nobody reads the stream any more"));
}

std::optional<EventQueue::Next> EventQueue::take() {
  if (taken_.empty()) {
    std::unique_lock lock(mutex_);
    if (!is_finished_ && events_.empty()) return std::nullopt;
    taken_.swap(events_);
    bool was_full = std::exchange(was_full_, false);
    std::optional<v1::Error> error = taken_.empty() ? error_ : std::nullopt;
    lock.unlock();
    if (was_full) on_room_();
    if (error) return *error;
    if (taken_.empty()) return std::optional<v1::Event>();
  }
  std::optional<v1::Event> event = std::move(taken_.front());
  taken_.pop_front();
  return event;
}

EventQueue::Next EventQueue::next() {
  for (;;) {
    if (auto next = take()) return *std::move(next);
    HandlerPool::Waiting waiting;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_finished_ || !events_.empty(); });
  }
}

void EventQueue::next_async(std::function<void(Next)> done) {
  if (auto next = take()) return done(*std::move(next));
  {
    std::lock_guard lock(mutex_);
    if (!waiting_) {
      waiting_ = std::exchange(done, {});
    }
  }
  if (done) {
    return done(v1::Error(v1::ErrorCode::conflict, "another wait for an event is still under way"));
  }
  tell_reader();
}

void EventQueue::tell_reader() {
  std::function<void(Next)> done;
  {
    std::lock_guard lock(mutex_);
    if (!is_finished_ && events_.empty()) return;
    done.swap(waiting_);
  }
  if (!done) return;
  if (auto next = take()) done(*std::move(next));
}

}  // namespace errand::sdk
