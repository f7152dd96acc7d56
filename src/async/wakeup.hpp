#pragma once

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
  SteadyTimer timer_;
  bool rung_ = false;
};

// Lets others ring a doorbell that exists only while somebody waits: `at` points to it meanwhile.
class WakeupAt final {
 public:
  WakeupAt(Executor home, Wakeup*& at) : wakeup_(std::move(home)), at_(at) { at_ = &wakeup_; }
  ~WakeupAt() { at_ = nullptr; }
  WakeupAt(const WakeupAt&) = delete;
  WakeupAt& operator=(const WakeupAt&) = delete;

  Task<void> wait() { return wakeup_.wait(); }

 private:
  Wakeup wakeup_;
  Wakeup*& at_;
};

}  // namespace errand
