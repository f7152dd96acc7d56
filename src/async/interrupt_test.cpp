#include "async/interrupt.hpp"

#include <gtest/gtest.h>

#include <string>

#include "async/timers.hpp"
#include "support/run_task.hpp"

namespace errand::interrupt_test {
namespace {

TEST(Interrupt, EndsTheInnermostWait) {
  Interrupt interrupt;
  std::string ended;
  Interrupt::Scope outer(&interrupt, [&] { ended += 'o'; });
  {
    Interrupt::Scope inner(&interrupt, [&] { ended += 'i'; });
    interrupt.raise();
  }
  interrupt.raise();
  EXPECT_EQ(ended, "io");
}

TEST(Interrupt, StaysRaised) {
  Interrupt interrupt;
  EXPECT_FALSE(interrupt.is_raised());
  interrupt.raise();
  EXPECT_TRUE(interrupt.is_raised());
}

TEST(Interrupt, NobodyWaitsForOneThatIsNotThere) {
  Interrupt::Scope scope(nullptr, [] { FAIL(); });
}

TEST(Interrupt, EndsASleepThatIsUnderWayOrBegins) {
  asio::io_context io(1);
  ManualTimers timers;
  Interrupt interrupt;
  bool is_done = false;
  asio::co_spawn(io, timers.sleep_until(timers.now() + seconds(60), &interrupt),
                 [&](std::exception_ptr) { is_done = true; });
  run_ready(io);
  EXPECT_FALSE(is_done);
  interrupt.raise();
  run_ready(io);
  EXPECT_TRUE(is_done);
  run_task(io, timers.sleep_until(timers.now() + seconds(60), &interrupt));
  EXPECT_EQ(timers.pending(), 0U);
}

}  // namespace
}  // namespace errand::interrupt_test
