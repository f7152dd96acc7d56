#include "async/task_group.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/run_task.hpp"

namespace errand::task_group_test {
namespace {

// Writes a line when its scope ends, however that happens.
class Trace final {
 public:
  Trace(std::vector<std::string>* lines, std::string name)
      : lines_(lines), name_(std::move(name)) {}
  ~Trace() { lines_->push_back(name_ + " unwound"); }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

 private:
  std::vector<std::string>* lines_;
  std::string name_;
};

class TaskGroupTest : public testing::Test {
 protected:
  using Lines = std::vector<std::string>;

  Task<void> note(std::string line) {
    lines_.push_back(std::move(line));
    co_return;
  }
  Task<void> wait_for_bell(std::string name, Wakeup* bell) {
    Trace trace(&lines_, name);
    lines_.push_back(name + " waits");
    co_await bell->wait();
    lines_.push_back(name + " woke");
    co_await note(name + " went on");
  }
  Task<void> fail(std::string what) {
    lines_.push_back("fails");
    throw std::logic_error(what);
    co_return;
  }
  Task<void> fail_on_cancel(Wakeup* bell) {
    co_await bell->wait();
    throw std::logic_error("failed while it was cancelled");
  }
  Task<void> spawn_other(Wakeup* bell) {
    group_.spawn("inner", wait_for_bell("inner", bell));
    co_return;
  }

  asio::io_context io_{1};
  Wakeup first_{io_.get_executor()};
  Wakeup second_{io_.get_executor()};
  Lines lines_;
  Lines bugs_;
  TaskGroup group_{io_.get_executor(), [this](const char* task, const std::string& what) {
                     bugs_.push_back(std::string(task) + ": " + what);
                   }};
};

TEST_F(TaskGroupTest, TasksRunBesideEachOtherAndJoinWaitsForAll) {
  group_.spawn("one", wait_for_bell("one", &first_));
  group_.spawn("two", wait_for_bell("two", &second_));
  EXPECT_EQ(group_.size(), 2U);
  run_ready(io_);
  EXPECT_EQ(lines_, (Lines{"one waits", "two waits"}));
  second_.notify();
  run_ready(io_);
  EXPECT_EQ(group_.size(), 1U);
  first_.notify();
  run_task(io_, group_.join());
  EXPECT_EQ(lines_, (Lines{"one waits", "two waits", "two woke", "two went on", "two unwound",
                           "one woke", "one went on", "one unwound"}));
  EXPECT_EQ(group_.size(), 0U);
  EXPECT_EQ(group_.cancelled(), std::nullopt);
  EXPECT_EQ(bugs_, Lines{});
}

TEST_F(TaskGroupTest, JoinOfAnEmptyGroupReturnsAtOnce) {
  run_task(io_, group_.join());
}

TEST_F(TaskGroupTest, CancelUnwindsATaskAtItsNextAwait) {
  group_.spawn("one", wait_for_bell("one", &first_));
  run_ready(io_);
  group_.cancel(CancelReason::user_stop);
  run_task(io_, group_.join());
  EXPECT_EQ(lines_, (Lines{"one waits", "one woke", "one unwound"}));
  EXPECT_EQ(group_.cancelled(), CancelReason::user_stop);
  EXPECT_EQ(bugs_, Lines{});
}

TEST_F(TaskGroupTest, CancelReachesEveryTask) {
  group_.spawn("one", wait_for_bell("one", &first_));
  group_.spawn("two", wait_for_bell("two", &second_));
  run_ready(io_);
  run_task(io_, group_.stop(CancelReason::shutdown));
  EXPECT_EQ(lines_, (Lines{"one waits", "two waits", "one woke", "one unwound", "two woke",
                           "two unwound"}));
}

// Looking for the next task from the start of the group each time would take minutes here.
TEST_F(TaskGroupTest, CancelReachesFiftyThousandTasksInTheirOrder) {
  constexpr int kTasks = 50'000;
  std::vector<int> unwound;
  struct Waiting {
    static Task<void> wait(std::vector<int>* unwound, int number) {
      SteadyTimer never(co_await asio::this_coro::executor, SteadyTime::max());
      co_await never.async_wait(as_result);
      unwound->push_back(number);
    }
  };
  for (int i = 0; i < kTasks; ++i) group_.spawn("waiting", Waiting::wait(&unwound, i));
  run_ready(io_);
  run_task(io_, group_.stop(CancelReason::shutdown));
  std::vector<int> expected(kTasks);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(unwound, expected);
  EXPECT_EQ(group_.size(), 0U);
}

TEST_F(TaskGroupTest, ATaskThatIsCancelledBeforeItRanLeavesNothingBehind) {
  group_.spawn("one", wait_for_bell("one", &first_));
  run_task(io_, group_.stop(CancelReason::shutdown));
  EXPECT_EQ(group_.size(), 0U);
  EXPECT_EQ(bugs_, Lines{});
}

TEST_F(TaskGroupTest, TheFirstReasonOfACancelStays) {
  group_.cancel(CancelReason::client_gone);
  group_.cancel(CancelReason::shutdown);
  EXPECT_EQ(group_.cancelled(), CancelReason::client_gone);
}

TEST_F(TaskGroupTest, ATaskSpawnedAfterCancelIsDroppedUnstarted) {
  group_.cancel(CancelReason::shutdown);
  group_.spawn("late", note("late ran"));
  EXPECT_EQ(group_.size(), 0U);
  run_task(io_, group_.join());
  run_ready(io_);
  EXPECT_EQ(lines_, Lines{});
}

TEST_F(TaskGroupTest, ATaskMaySpawnAnother) {
  group_.spawn("outer", spawn_other(&first_));
  run_ready(io_);
  EXPECT_EQ(group_.size(), 1U);
  first_.notify();
  run_task(io_, group_.join());
  EXPECT_EQ(lines_, (Lines{"inner waits", "inner woke", "inner went on", "inner unwound"}));
}

TEST_F(TaskGroupTest, ABugIsReportedByTheNameOfItsTask) {
  group_.spawn("pump", fail("broken"));
  group_.spawn("other", note("other ran"));
  run_task(io_, group_.join());
  EXPECT_EQ(lines_, (Lines{"fails", "other ran"}));
  EXPECT_EQ(bugs_, Lines{"pump: broken"});
}

TEST_F(TaskGroupTest, ABugDuringCancelIsStillABug) {
  group_.spawn("pump", fail_on_cancel(&first_));
  run_ready(io_);
  run_task(io_, group_.stop(CancelReason::shutdown));
  EXPECT_EQ(bugs_, Lines{"pump: failed while it was cancelled"});
}

TEST_F(TaskGroupTest, AGroupThatRanEmptyCanBeUsedAgain) {
  group_.spawn("one", note("one"));
  run_task(io_, group_.join());
  group_.spawn("two", note("two"));
  run_task(io_, group_.join());
  EXPECT_EQ(lines_, (Lines{"one", "two"}));
}

Task<void> wait_forever(Wakeup* bell) {
  co_await bell->wait();
}

void destroy_a_group_with_a_task() {
  asio::io_context io(1);
  Wakeup bell(io.get_executor());
  TaskGroup group(io.get_executor(), [](const char*, const std::string&) {});
  group.spawn("forgotten", wait_forever(&bell));
}

TEST(TaskGroupDeathTest, DestroyingAGroupWithATaskEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(destroy_a_group_with_a_task(), "destroyed while \"forgotten\" still ran");
}

}  // namespace
}  // namespace errand::task_group_test
