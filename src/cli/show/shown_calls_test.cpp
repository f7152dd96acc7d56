#include "cli/show/shown_calls.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "async/task_group.hpp"

namespace errand::cli::shown_calls_test {
namespace {

class ShownCallsTest : public testing::Test {
 protected:
  ~ShownCallsTest() override {
    shown_.end();
    settle();
  }

  static Task<void> note(ShownCalls* shown, RunId run, ToolUseId call, bool* is_over) {
    co_await shown->wait(run, call);
    *is_over = true;
  }

  void wait_for(const RunId& run) {
    tasks_.spawn("wait", note(&shown_, run, call_, &is_over_));
    settle();
  }
  void settle() {
    io_.restart();
    io_.poll();
  }

  const RunId ours_ = *RunId::parse("run_1");
  const RunId other_ = *RunId::parse("run_2");
  const ToolUseId call_ = *ToolUseId::parse("tu_1");
  asio::io_context io_{1};
  ShownCalls shown_{io_.get_executor()};
  bool is_over_ = false;
  TaskGroup tasks_{io_.get_executor(), [](const char*, const std::string&) {}};
};

TEST_F(ShownCallsTest, WaitsUntilTheCallIsShown) {
  shown_.expect();
  wait_for(ours_);
  EXPECT_FALSE(is_over_);
  shown_.begin(ours_);
  settle();
  EXPECT_FALSE(is_over_);
  shown_.add(call_);
  settle();
  EXPECT_TRUE(is_over_);
}

TEST_F(ShownCallsTest, NobodyWaitsForARunThatIsNotShown) {
  wait_for(ours_);
  EXPECT_TRUE(is_over_);
  is_over_ = false;
  shown_.begin(ours_);
  wait_for(other_);
  EXPECT_TRUE(is_over_);
}

TEST_F(ShownCallsTest, NobodyWaitsOnceNothingMoreIsShown) {
  shown_.begin(ours_);
  wait_for(ours_);
  EXPECT_FALSE(is_over_);
  shown_.end();
  settle();
  EXPECT_TRUE(is_over_);
}

}  // namespace
}  // namespace errand::cli::shown_calls_test
