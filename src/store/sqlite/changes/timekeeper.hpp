#pragma once

#include "base/clock.hpp"
#include "store/records.hpp"

namespace errand::sqlite {

// The store's own clock: goes on from where the process before it left off, with the steady clock.
// Safe to use from any thread.
class Timekeeper final {
 public:
  Timekeeper(const Clock& clock, StoreTime start)
      : clock_(clock), start_(start), opened_(clock.steady_now()) {}

  StoreTime now() const {
    return start_ + std::chrono::duration_cast<milliseconds>(clock_.steady_now() - opened_);
  }
  WallTime wall_now() const { return clock_.now(); }

 private:
  const Clock& clock_;
  const StoreTime start_;
  const SteadyTime opened_;
};

}  // namespace errand::sqlite
