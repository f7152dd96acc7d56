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
  return has_room;
}

void EventQueue::finish(std::optional<v1::Error> error) {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(is_finished_, true)) return;
    error_ = std::move(error);
  }
  changed_.notify_one();
}

void EventQueue::abandon() {
  bool was_full = false;
  {
    std::lock_guard lock(mutex_);
    is_abandoned_ = true;
    events_.clear();
    was_full = std::exchange(was_full_, false);
  }
  if (was_full) on_room_();
}

v1::Result<std::optional<v1::Event>> EventQueue::next() {
  if (taken_.empty()) {
    HandlerPool::Waiting waiting;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_finished_ || !events_.empty(); });
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

}  // namespace errand::sdk
