#pragma once

#include "base/clock.hpp"

namespace errand {

// A time of day that stands still until a test sets it.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t millis = 0) : now_(from_millis(millis)) {}

  WallTime now() const override { return now_; }
  void set(std::int64_t millis) { now_ = from_millis(millis); }

 private:
  WallTime now_;
};

}  // namespace errand
