#include "async/timers.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "async/task_group.hpp"
#include "support/run_task.hpp"

namespace errand::timers_test {
namespace {

using std::chrono::hours;

class AsioTimersTest : public testing::Test {
 protected:
  // An action that writes down its letter.
  std::function<void()> letter(char c) {
    return [this, c] { fired_.push_back(c); };
  }
  void run_until_fired(std::size_t count) {
    run_until(io_, [&] { return fired_.size() >= count; });
  }

  asio::io_context io_{1};
  AsioTimers timers_{Home(io_)};
  std::string fired_;
};

TEST_F(AsioTimersTest, DeadlinesFireInTheirOrder) {
  SteadyTime now = timers_.now();
  timers_.set(now + milliseconds(3), letter('c'));
  timers_.set(now + milliseconds(1), letter('a'));
  timers_.set(now + milliseconds(2), letter('b'));
  timers_.set(now + milliseconds(3), letter('d'));
  run_until_fired(4);
  EXPECT_EQ(fired_, "abcd");
  EXPECT_GE(timers_.now(), now + milliseconds(3));
}

TEST_F(AsioTimersTest, ADeadlineThatHasPassedFiresFromTheLoopAndNotFromSet) {
  timers_.set(timers_.now() - hours(1), letter('a'));
  EXPECT_EQ(fired_, "");
  run_until_fired(1);
  EXPECT_EQ(fired_, "a");
}

TEST_F(AsioTimersTest, ADeadlineDoesNotFireBeforeItsTime) {
  timers_.set(timers_.now() + hours(1), letter('a'));
  run_ready(io_);
  EXPECT_EQ(fired_, "");
}

TEST_F(AsioTimersTest, ACancelledDeadlineDoesNotFire) {
  SteadyTime now = timers_.now();
  auto first = timers_.set(now, letter('a'));
  timers_.set(now, letter('b'));
  timers_.cancel(first);
  run_until_fired(1);
  EXPECT_EQ(fired_, "b");
}

TEST_F(AsioTimersTest, CancellingTheLastDeadlineLeavesTheLoopNothingToDo) {
  timers_.cancel(timers_.set(timers_.now() + hours(1), letter('a')));
  io_.run();  // returns because no timer is armed
  EXPECT_EQ(fired_, "");
}

TEST_F(AsioTimersTest, CancelOfWhatHasFiredOrNeverWasHasNoEffect) {
  auto id = timers_.set(timers_.now(), letter('a'));
  EXPECT_NE(id, Timers::Id());
  run_until_fired(1);
  timers_.set(timers_.now(), letter('b'));
  timers_.cancel(id);
  timers_.cancel({});
  timers_.cancel({.when = timers_.now(), .number = 12345});
  run_until_fired(2);
  EXPECT_EQ(fired_, "ab");
}

TEST_F(AsioTimersTest, AnEarlierDeadlineArmsTheTimerAgain) {
  timers_.set(timers_.now() + hours(1), letter('z'));
  run_ready(io_);
  timers_.set(timers_.now(), letter('a'));
  run_until_fired(1);
  EXPECT_EQ(fired_, "a");
}

TEST_F(AsioTimersTest, LaterDeadlinesAreArmedAfterAnEarlierOneFired) {
  timers_.set(timers_.now(), letter('a'));
  timers_.set(timers_.now() + milliseconds(2), letter('b'));
  run_until_fired(2);
  EXPECT_EQ(fired_, "ab");
}

TEST_F(AsioTimersTest, AnActionMaySetAndCancel) {
  Timers::Id victim;
  timers_.set(timers_.now(), [&] {
    fired_.push_back('a');
    timers_.cancel(victim);
    timers_.set(timers_.now(), letter('b'));
  });
  victim = timers_.set(timers_.now(), letter('x'));
  run_until_fired(2);
  io_.run();
  EXPECT_EQ(fired_, "ab");
}

TEST_F(AsioTimersTest, AGuardCallsItsDeadlineOff) {
  {
    TimerGuard guard(timers_, timers_.now(), letter('a'));
  }
  timers_.set(timers_.now(), letter('b'));
  run_until_fired(1);
  EXPECT_EQ(fired_, "b");
}

TEST_F(AsioTimersTest, ASleepEndsWithItsDeadline) {
  SteadyTime when = timers_.now() + milliseconds(2);
  run_task(io_, timers_.sleep_until(when));
  EXPECT_GE(timers_.now(), when);
}

class ManualTimersTest : public testing::Test {
 protected:
  std::function<void()> letter(char c) {
    return [this, c] { fired_.push_back(c); };
  }
  Task<void> sleep_for(milliseconds duration) {
    co_await timers_.sleep_until(timers_.now() + duration);
    fired_.push_back('s');
  }

  ManualTimers timers_;
  std::string fired_;
};

TEST_F(ManualTimersTest, AdvanceFiresWhatIsDueInItsOrder) {
  SteadyTime start = timers_.now();
  timers_.set(start + seconds(3), letter('c'));
  timers_.set(start + seconds(1), letter('a'));
  timers_.set(start + seconds(2), letter('b'));
  EXPECT_EQ(timers_.pending(), 3U);
  timers_.advance(milliseconds(1999));
  EXPECT_EQ(fired_, "a");
  timers_.advance(milliseconds(1));
  EXPECT_EQ(fired_, "ab");
  EXPECT_EQ(timers_.now(), start + seconds(2));
  timers_.advance(hours(1));
  EXPECT_EQ(fired_, "abc");
  EXPECT_EQ(timers_.pending(), 0U);
}

TEST_F(ManualTimersTest, FireNextJumpsToTheNextDeadline) {
  SteadyTime start = timers_.now();
  timers_.set(start + hours(2), letter('b'));
  timers_.set(start + hours(1), letter('a'));
  EXPECT_TRUE(timers_.fire_next());
  EXPECT_EQ(timers_.now(), start + hours(1));
  EXPECT_TRUE(timers_.fire_next());
  EXPECT_FALSE(timers_.fire_next());
  EXPECT_EQ(fired_, "ab");
  EXPECT_EQ(timers_.now(), start + hours(2));
}

TEST_F(ManualTimersTest, ACancelledDeadlineDoesNotFire) {
  auto id = timers_.set(timers_.now() + seconds(1), letter('a'));
  timers_.set(timers_.now() + seconds(1), letter('b'));
  timers_.cancel(id);
  timers_.cancel({});
  timers_.advance(seconds(1));
  EXPECT_EQ(fired_, "b");
}

TEST_F(ManualTimersTest, AnActionSeesTheTimeOfItsDeadlineAndMaySetAnother) {
  SteadyTime start = timers_.now();
  std::optional<SteadyTime> seen;
  timers_.set(start + seconds(1), [&] {
    seen = timers_.now();
    timers_.set(timers_.now() + seconds(1), letter('b'));
    timers_.set(timers_.now() + hours(1), letter('z'));
  });
  timers_.advance(seconds(5));
  EXPECT_EQ(seen, start + seconds(1));
  EXPECT_EQ(fired_, "b");
  EXPECT_EQ(timers_.now(), start + seconds(5));
}

TEST_F(ManualTimersTest, ASleepEndsWithItsDeadline) {
  asio::io_context io(1);
  TaskGroup group(io.get_executor(), [](const char*, const std::string& what) { FAIL() << what; });
  group.spawn("sleep", sleep_for(hours(24)));
  run_ready(io);
  timers_.advance(hours(24) - milliseconds(1));
  run_ready(io);
  EXPECT_EQ(fired_, "");
  timers_.advance(milliseconds(1));
  run_task(io, group.join());
  EXPECT_EQ(fired_, "s");
}

TEST_F(ManualTimersTest, ACancelledSleepLeavesNoDeadline) {
  asio::io_context io(1);
  TaskGroup group(io.get_executor(), [](const char*, const std::string& what) { FAIL() << what; });
  group.spawn("sleep", sleep_for(hours(24)));
  run_ready(io);
  EXPECT_EQ(timers_.pending(), 1U);
  run_task(io, group.stop(CancelReason::shutdown));
  EXPECT_EQ(timers_.pending(), 0U);
}

}  // namespace
}  // namespace errand::timers_test
