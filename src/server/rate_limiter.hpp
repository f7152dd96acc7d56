#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "base/clock.hpp"
#include "run/ids.hpp"

namespace errand::server {

// How many requests each key has made within the last minute, in steps of a second: a window that
// slides, so that no key gets twice its share around the turn of a minute. Lives on one home.
class RateLimiter final {
 public:
  static constexpr std::size_t kBuckets = 60;
  // Keys that are remembered; past it, keys that made no request within the window are forgotten.
  static constexpr std::size_t kKeysMax = 10'000;

  explicit RateLimiter(std::uint32_t per_minute) : per_minute_(per_minute) {}

  struct Verdict {
    bool is_allowed = true;
    std::uint32_t limit = 0;
    std::uint32_t remaining = 0;
    seconds reset_after{0};  // until the oldest requests of the window leave it
  };
  // Counts a request if it is allowed; refused ones do not count.
  Verdict take(const KeyId& key, SteadyTime now);
  // Whether a request would be allowed now. Counts nothing.
  bool would_allow(const KeyId& key, SteadyTime now);

 private:
  struct Window {
    std::array<std::uint32_t, kBuckets> counts{};
    std::int64_t newest = 0;  // the second that the newest bucket is of
    std::uint32_t total = 0;
  };

  static void advance(Window& window, std::int64_t second);
  void forget_idle(std::int64_t second);

  const std::uint32_t per_minute_;
  std::unordered_map<KeyId, Window> windows_;
};

}  // namespace errand::server
