#include "async/loop_watch.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <boost/asio/post.hpp>
#include <numeric>

namespace errand::loop_watch_test {
namespace {

using std::chrono::milliseconds;

// Works until the thread has used so much CPU time.
void burn(milliseconds time) {
  auto cpu = [] {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  const auto end = cpu() + time;
  while (cpu() < end) {
  }
}

std::uint64_t count_of(const DurationHistogram& times) {
  return std::accumulate(times.buckets.begin(), times.buckets.end(), std::uint64_t{0});
}

TEST(LoopWatch, ATaskThatKeepsTheLoopIsNoted) {
  asio::io_context io(1);
  LoopWatch watch;
  asio::post(io, [] { burn(milliseconds(30)); });
  watch.run(io);
  EXPECT_GE(watch.longest(), milliseconds(30));
  EXPECT_EQ(count_of(watch.long_tasks()), 1U);
}

TEST(LoopWatch, ALoopThatWaitsIsNot) {
  asio::io_context io(1);
  LoopWatch watch;
  int ran = 0;
  for (int i = 0; i < 10; ++i) asio::post(io, [&ran] { ++ran; });
  watch.run(io);
  EXPECT_EQ(ran, 10);
  EXPECT_EQ(count_of(watch.long_tasks()), 0U);
}

}  // namespace
}  // namespace errand::loop_watch_test
