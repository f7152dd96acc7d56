#pragma once

#include <boost/asio/steady_timer.hpp>

#include "async/task.hpp"
#include "base/clock.hpp"

namespace errand {

// A doorbell for one waiter on one home. A ring before the wait is not lost; several count as one.
class Wakeup final {
 public:
  explicit Wakeup(Executor home) : timer_(std::move(home)) {}

  void notify();
  void reset() { rung_ = false; }  // forgets a ring that nobody has waited for
  Task<void> wait();

  enum class Woken { rung, timed_out };
  Task<Woken> wait_until(SteadyTime deadline);

 private:
  asio::steady_timer timer_;
  bool rung_ = false;
};

}  // namespace errand
