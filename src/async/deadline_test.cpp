#include "async/deadline.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "async/task_group.hpp"
#include "support/run_task.hpp"
#include "support/whole_error.hpp"

namespace errand::deadline_test {
namespace {

SteadyTime far_away() {
  return std::chrono::steady_clock::now() + std::chrono::hours(1);
}

class DeadlineTest : public testing::Test {
 protected:
  // Says when it unwinds, however that happens.
  struct Trace {
    std::vector<std::string>* lines;
    ~Trace() { lines->push_back("unwound"); }
  };

  Task<Result<int>> wait_for_bell(int value) {
    Trace trace{&lines_};
    co_await bell_.wait();
    co_await asio::post(io_, use_task);
    co_return value;
  }
  Task<Result<int>> give(Result<int> result) { co_return result; }
  Task<Result<int>> fail() {
    co_await asio::post(io_, use_task);
    throw std::runtime_error("broken");
  }
  Task<void> keep(SteadyTime deadline) {
    auto result = co_await with_deadline(deadline, wait_for_bell(7));
    lines_.push_back(result ? "value" : std::string(to_string(result.error().code())));
    co_await asio::post(io_, use_task);
    lines_.push_back("went on");
  }

  asio::io_context io_{1};
  Wakeup bell_{io_.get_executor()};
  std::vector<std::string> lines_;
  TaskGroup group_{io_.get_executor(),
                   [](const char*, const std::string& what) { FAIL() << what; }};
};

TEST_F(DeadlineTest, AResultInTimeIsPassedOn) {
  EXPECT_EQ(run_task(io_, with_deadline(far_away(), give(7))).value(), 7);
  auto failed = run_task(io_, with_deadline(far_away(), give(Error(ErrorCode::conflict, "no"))));
  EXPECT_EQ(whole(failed.error()), (WholeError{.code = ErrorCode::conflict, .message = "no"}));
}

TEST_F(DeadlineTest, ATaskThatWaitsIsResumedInTime) {
  group_.spawn("keep", keep(far_away()));
  run_ready(io_);
  bell_.notify();
  run_task(io_, group_.join());
  EXPECT_EQ(lines_, (std::vector<std::string>{"unwound", "value", "went on"}));
}

TEST_F(DeadlineTest, ATimeoutCancelsTheTaskWhichHasUnwoundBeforeItReturns) {
  auto late = run_task(io_, with_deadline(std::chrono::steady_clock::now(), wait_for_bell(7)));
  EXPECT_EQ(whole(late.error()),
            (WholeError{.code = ErrorCode::timeout, .message = "the deadline passed"}));
  EXPECT_EQ(lines_, std::vector<std::string>{"unwound"});
}

TEST_F(DeadlineTest, ABugInTheTaskIsABugOfTheCaller) {
  EXPECT_THROW((void)run_task(io_, with_deadline(far_away(), fail())), std::runtime_error);
}

TEST_F(DeadlineTest, ACancelledCallerUnwindsWithItsTask) {
  group_.spawn("keep", keep(far_away()));
  run_ready(io_);
  run_task(io_, group_.stop(CancelReason::user_stop));
  EXPECT_EQ(lines_.front(), "unwound");
  EXPECT_NE(lines_.back(), "went on");
}

}  // namespace
}  // namespace errand::deadline_test
