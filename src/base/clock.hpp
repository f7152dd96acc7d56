#pragma once

#include <chrono>
#include <string>

namespace errand {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A point on the wall, in milliseconds since 1970; what is stored and shown.
using WallTime = std::chrono::time_point<std::chrono::system_clock, milliseconds>;
// A point on the clock that never jumps; what deadlines are measured by.
using SteadyTime = std::chrono::steady_clock::time_point;

// A point on a store's own clock, which goes on only while somebody serves the store. What is
// measured by it counts neither the time while nobody did nor jumps of the machine's clock.
struct StoreClock {
  using duration = milliseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<StoreClock>;
  static constexpr bool is_steady = true;
};
using StoreTime = StoreClock::time_point;

// The machine's clocks. A collaborator, so that tests can set them. Safe to call from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime now() const = 0;
  virtual SteadyTime steady_now() const = 0;
};

class SystemClock final : public Clock {
 public:
  WallTime now() const override;
  SteadyTime steady_now() const override;
};

inline std::int64_t to_millis(WallTime time) {
  return time.time_since_epoch().count();
}
inline WallTime from_millis(std::int64_t millis) {
  return WallTime(milliseconds(millis));
}
inline std::int64_t to_millis(StoreTime time) {
  return time.time_since_epoch().count();
}

// "2026-11-15T12:00:00.000Z".
std::string to_iso8601(WallTime time);

}  // namespace errand
