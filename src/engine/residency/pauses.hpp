#pragma once

#include <set>

#include "async/task.hpp"
#include "async/timers.hpp"
#include "async/wakeup.hpp"

namespace errand::engine {

// The waits of background work, which all end early when the engine stops. Lives on one home.
class Pauses final {
 public:
  Pauses(Executor home, Timers& timers) : home_(std::move(home)), timers_(timers) {}
  Pauses(const Pauses&) = delete;
  Pauses& operator=(const Pauses&) = delete;

  Task<void> pause(milliseconds duration) {
    if (ended_) co_return;
    Wakeup wakeup(home_);
    waiting_.insert(&wakeup);
    TimerGuard timer(timers_, timers_.now() + duration, [&wakeup] { wakeup.notify(); });
    co_await wakeup.wait();
    waiting_.erase(&wakeup);
  }

  // From now on nothing waits.
  void end() {
    ended_ = true;
    for (Wakeup* wakeup : waiting_) wakeup->notify();
  }
  bool ended() const { return ended_; }

 private:
  const Executor home_;
  Timers& timers_;
  std::set<Wakeup*> waiting_;
  bool ended_ = false;
};

}  // namespace errand::engine
