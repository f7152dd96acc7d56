#include "async/timers.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>

#include "async/wakeup.hpp"

namespace errand {

Task<void> Timers::sleep_until(SteadyTime when, Interrupt* interrupt) {
  if (interrupt && interrupt->is_raised()) co_return;
  Wakeup wakeup(co_await asio::this_coro::executor);
  TimerGuard timer(*this, when, [&wakeup] { wakeup.notify(); });
  Interrupt::Scope waiting(interrupt, [&wakeup] { wakeup.notify(); });
  co_await wakeup.wait();
}

AsioTimers::AsioTimers(Home home) : timer_(home.executor()) {}

Timers::Id AsioTimers::set(SteadyTime when, std::function<void()> action) {
  Id id{.when = when, .number = ++last_number_};
  queue_.emplace(id, std::move(action));
  if (when < armed_for_) arm();
  return id;
}

void AsioTimers::cancel(Id id) {
  if (queue_.erase(id) > 0 && queue_.empty()) {
    armed_for_ = SteadyTime::max();
    timer_.cancel();
  }
}

void AsioTimers::arm() {
  armed_for_ = queue_.begin()->first.when;
  timer_.expires_at(armed_for_);
  timer_.async_wait([this, alive = std::weak_ptr(alive_)](boost::system::error_code error) {
    if (error != asio::error::operation_aborted && !alive.expired()) fire();
  });
}

void AsioTimers::fire() {
  SteadyTime until = now();
  while (!queue_.empty() && queue_.begin()->first.when <= until) {
    auto due = queue_.extract(queue_.begin());
    due.mapped()();
  }
  armed_for_ = SteadyTime::max();
  if (!queue_.empty()) arm();
}

Timers::Id ManualTimers::set(SteadyTime when, std::function<void()> action) {
  Id id{.when = when, .number = ++last_number_};
  queue_.emplace(id, std::move(action));
  return id;
}

void ManualTimers::cancel(Id id) {
  queue_.erase(id);
}

bool ManualTimers::fire_next() {
  if (queue_.empty()) return false;
  auto due = queue_.extract(queue_.begin());
  now_ = std::max(now_, due.key().when);
  due.mapped()();
  return true;
}

void ManualTimers::advance(std::chrono::milliseconds by) {
  SteadyTime until = now_ + by;
  while (!queue_.empty() && queue_.begin()->first.when <= until) fire_next();
  now_ = until;
}

}  // namespace errand
