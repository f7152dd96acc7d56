#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace errand {

// How long something took, counted in buckets. Plain numbers: touched on one home only.
struct DurationHistogram {
  // Upper bounds in seconds. What takes longer is in the last bucket.
  static constexpr std::array<double, 14> kBounds = {0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                     0.5,   1,     2.5,  5,     10,   30,  60};

  std::array<std::uint64_t, kBounds.size() + 1> buckets{};
  std::chrono::nanoseconds sum{};

  void observe(std::chrono::nanoseconds took) {
    const double value = std::chrono::duration<double>(took).count();
    std::size_t bucket = 0;
    while (bucket < kBounds.size() && value > kBounds[bucket]) ++bucket;
    ++buckets[bucket];
    sum += took;
  }
};

}  // namespace errand
