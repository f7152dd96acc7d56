#include "async/loop_watch.hpp"

#include <time.h>

#include <algorithm>

namespace errand {
namespace {

std::chrono::nanoseconds thread_cpu() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

void LoopWatch::run(asio::io_context& io) {
  looked_at_ = std::chrono::steady_clock::now();
  cpu_ = thread_cpu();
  while (io.run_one() > 0) look();
}

void LoopWatch::look() {
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_at_ < kLookEvery) return;
  const auto cpu = thread_cpu();
  const auto took = cpu - cpu_;
  looked_at_ = now;
  cpu_ = cpu;
  if (took < kLongMin) return;
  long_tasks_.observe(took);
  longest_ = std::max(longest_, took);
}

}  // namespace errand
