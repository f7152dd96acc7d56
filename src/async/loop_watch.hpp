#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>

#include "async/task.hpp"
#include "base/histogram.hpp"

namespace errand {

// Runs an event loop and notes the tasks that keep everybody else on it waiting. What counts is
// CPU time, which does not grow because the machine is busy. Touched on the loop's thread only.
class LoopWatch final {
 public:
  // Shorter tasks are not noted. A task that is noted may be told longer by up to kLookEvery.
  static constexpr std::chrono::microseconds kLongMin{1000};
  static constexpr std::chrono::microseconds kLookEvery{250};

  // Returns when the loop is stopped, or has nothing left to do.
  void run(asio::io_context& io);

  const DurationHistogram& long_tasks() const { return long_tasks_; }
  std::chrono::nanoseconds longest() const { return longest_; }

 private:
  // After each task. Looks at the CPU clock, which is a call of the system, only now and then.
  void look();

  std::chrono::steady_clock::time_point looked_at_{};
  std::chrono::nanoseconds cpu_{};  // when it was looked at
  std::chrono::nanoseconds longest_{};
  DurationHistogram long_tasks_;
};

}  // namespace errand
