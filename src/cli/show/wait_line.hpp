#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.hpp"

namespace errand::cli {

// What is said of a run that shows nothing else: that its model is waited for, and for how long, or
// that the model is asked again soon. Time comes in ticks, so that nobody needs a clock.
class WaitLine final {
 public:
  static constexpr milliseconds kTick{100};
  static constexpr milliseconds kPatience{600};  // a shorter silence is not worth a word

  // The run has shown something.
  void reset();
  // The model is asked again after a pause, because of this.
  void retry(std::string_view why, milliseconds pause);
  // One more tick of silence. The text, on one line; empty if there is nothing to say yet.
  std::string tick();

 private:
  std::int64_t ticks_ = 0;        // of silence
  std::int64_t retry_ticks_ = 0;  // until the model is asked again
  std::string why_;
};

}  // namespace errand::cli
