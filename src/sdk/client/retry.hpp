#pragma once

#include <algorithm>
#include <optional>

#include "async/timers.hpp"
#include "sdk/run_api.hpp"

namespace errand::sdk {

// How often a request is repeated that is safe to repeat: after growing pauses, as long as the
// patience lasts. A server that was never heard of is not waited for.
class Retry final {
 public:
  static constexpr milliseconds kPauseFirst{250};
  static constexpr milliseconds kPauseMax{4000};

  Retry(Timers& timers, seconds patience, bool has_heard)
      : timers_(timers), patience_(patience), has_heard_(has_heard) {}

  // Waits before the next attempt. False: there is to be none.
  Task<bool> wait_after(Error error) {
    bool is_hopeless =
        !is_worth_retrying(error) || (!has_heard_ && error.reason() == RunApi::kUnreachable);
    SteadyTime now = timers_.now();
    if (!first_) first_ = now;
    if (is_hopeless || now - *first_ >= patience_) co_return false;
    co_await timers_.sleep_until(now + pause_);
    pause_ = std::min(pause_ * 2, kPauseMax);
    co_return true;
  }

 private:
  Timers& timers_;
  const seconds patience_;
  const bool has_heard_;
  std::optional<SteadyTime> first_;
  milliseconds pause_ = kPauseFirst;
};

}  // namespace errand::sdk
