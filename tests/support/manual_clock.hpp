#pragma once

#include "base/clock.hpp"

namespace errand {

// Clocks that stand still until a test moves them.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t millis = 0) : now_(from_millis(millis)) {}

  WallTime now() const override { return now_; }
  SteadyTime steady_now() const override { return steady_; }

  void set(std::int64_t millis) { now_ = from_millis(millis); }
  // Time goes by.
  void pass(milliseconds duration) {
    now_ += duration;
    steady_ += duration;
  }
  // Somebody sets the time of day.
  void jump(milliseconds duration) { now_ += duration; }

 private:
  WallTime now_;
  SteadyTime steady_{};
};

}  // namespace errand
