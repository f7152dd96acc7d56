#include "async/timers.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>

#include "async/wakeup.hpp"

namespace errand {

Task<void> Timers::sleep_until(SteadyTime when) {
  Wakeup wakeup(co_await asio::this_coro::executor);
  TimerGuard timer(*this, when, [&wakeup] { wakeup.notify(); });
  co_await wakeup.wait();
}

AsioTimers::AsioTimers(Home home) : timer_(home.executor()) {}

Timers::Id AsioTimers::set(SteadyTime when, std::function<void()> action) {
  Id id = ++last_id_;
  queue_.emplace(std::pair(when, id), std::move(action));
  when_.emplace(id, when);
  if (when < armed_for_) arm();
  return id;
}

void AsioTimers::cancel(Id id) {
  auto found = when_.find(id);
  if (found == when_.end()) return;
  queue_.erase({found->second, id});
  when_.erase(found);
  if (queue_.empty()) {
    armed_for_ = SteadyTime::max();
    timer_.cancel();
  }
}

void AsioTimers::arm() {
  armed_for_ = queue_.begin()->first.first;
  timer_.expires_at(armed_for_);
  timer_.async_wait([this, alive = std::weak_ptr(alive_)](boost::system::error_code error) {
    if (error != asio::error::operation_aborted && !alive.expired()) fire();
  });
}

void AsioTimers::fire() {
  SteadyTime until = now();
  while (!queue_.empty() && queue_.begin()->first.first <= until) {
    auto due = queue_.extract(queue_.begin());
    when_.erase(due.key().second);
    due.mapped()();
  }
  armed_for_ = SteadyTime::max();
  if (!queue_.empty()) arm();
}

Timers::Id ManualTimers::set(SteadyTime when, std::function<void()> action) {
  Id id = ++last_id_;
  queue_.emplace(std::pair(when, id), std::move(action));
  return id;
}

void ManualTimers::cancel(Id id) {
  auto found = std::find_if(queue_.begin(), queue_.end(),
                            [&](const auto& entry) { return entry.first.second == id; });
  if (found != queue_.end()) queue_.erase(found);
}

bool ManualTimers::fire_next() {
  if (queue_.empty()) return false;
  auto due = queue_.extract(queue_.begin());
  now_ = std::max(now_, due.key().first);
  due.mapped()();
  return true;
}

void ManualTimers::advance(std::chrono::milliseconds by) {
  SteadyTime until = now_ + by;
  while (!queue_.empty() && queue_.begin()->first.first <= until) fire_next();
  now_ = until;
}

}  // namespace errand
