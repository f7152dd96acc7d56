#pragma once

#include "async/timers.hpp"

namespace errand::agent {

// How long this process may count on owning its runs. Its writes are refused once another process
// has claimed the runs, but its effects outside of the store cannot be refused: so it begins no
// effect near the end of its lease. Lives on the engine's home.
class Lease final {
 public:
  // An effect that begins with less than this left could still run beside one of the next owner.
  static constexpr milliseconds kLeftMin{5000};

  explicit Lease(const Timers& timers) : timers_(timers) {}

  // `left` may be milliseconds::max(): for ever.
  void renew(milliseconds left) {
    until_ = left == milliseconds::max() ? SteadyTime::max() : timers_.now() + left;
  }
  bool allows_effects() const {
    return until_ == SteadyTime::max() || timers_.now() + kLeftMin <= until_;
  }
  bool is_forever() const { return until_ == SteadyTime::max(); }

 private:
  const Timers& timers_;
  SteadyTime until_ = SteadyTime::max();
};

}  // namespace errand::agent
