#include "async/wakeup.hpp"

namespace errand {

void Wakeup::notify() {
  rung_ = true;
  timer_.cancel();
}

Task<void> Wakeup::wait() {
  if (!rung_) {
    timer_.expires_at(SteadyTime::max());
    co_await timer_.async_wait(as_result);
  }
  rung_ = false;
}

Task<Wakeup::Woken> Wakeup::wait_until(SteadyTime deadline) {
  // A deadline that has passed needs no timer, which would cost one or two system calls.
  if (!rung_ && deadline > std::chrono::steady_clock::now()) {
    timer_.expires_at(deadline);
    co_await timer_.async_wait(as_result);
  }
  bool rung = rung_;
  rung_ = false;
  co_return rung ? Woken::rung : Woken::timed_out;
}

}  // namespace errand
