#pragma once

#include <algorithm>
#include <functional>
#include <string_view>

#include "base/clock.hpp"

namespace errand {

// The pauses between the attempts at something that fails for a while: each is twice as long as the
// one before, up to a bound. Every pause is scattered between half and one and a half of its
// length, at a point that follows from `who`. Callers that fail together would otherwise all come
// back to a recovered store at the same moment.
class Backoff final {
 public:
  struct Bounds {
    milliseconds first{50};
    milliseconds max{5000};
  };

  Backoff(Bounds bounds, std::string_view who)
      : bounds_(bounds),
        pause_(bounds.first),
        part_(static_cast<int>(std::hash<std::string_view>()(who) % kParts)) {}

  // How long to wait before the next attempt.
  milliseconds next() {
    const milliseconds pause = pause_;
    pause_ = std::min(pause_ * 2, bounds_.max);
    return pause / 2 + pause * part_ / kParts;
  }

  // An attempt has worked: the next failure is a first one.
  void reset() { pause_ = bounds_.first; }

 private:
  static constexpr int kParts = 1024;

  const Bounds bounds_;
  milliseconds pause_;
  const int part_;
};

}  // namespace errand
