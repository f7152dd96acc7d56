#include "async/wakeup.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "async/channel.hpp"
#include "async/task_group.hpp"
#include "support/run_task.hpp"

namespace errand::wakeup_test {
namespace {

// Times that a passing test never waits for, and that have passed.
SteadyTime far_away() {
  return std::chrono::steady_clock::now() + std::chrono::hours(1);
}
SteadyTime long_ago() {
  return std::chrono::steady_clock::now() - std::chrono::hours(1);
}

class WakeupTest : public testing::Test {
 protected:
  Task<void> count_rings() {
    for (;;) {
      co_await bell_.wait();
      ++rings_;
    }
  }
  Task<void> keep_woken(SteadyTime deadline) { woken_ = co_await bell_.wait_until(deadline); }

  void start(Task<void> task) {
    group_.spawn("test", std::move(task));
    run_ready(io_);
  }
  void stop() { run_task(io_, group_.stop(CancelReason::shutdown)); }

  asio::io_context io_{1};
  Wakeup bell_{io_.get_executor()};
  int rings_ = 0;
  std::optional<Wakeup::Woken> woken_;
  TaskGroup group_{io_.get_executor(),
                   [](const char*, const std::string& what) { FAIL() << what; }};
};

TEST_F(WakeupTest, ARingBeforeTheWaitIsNotLost) {
  bell_.notify();
  run_task(io_, bell_.wait());
}

TEST_F(WakeupTest, ARingWakesTheWaiter) {
  start(count_rings());
  EXPECT_EQ(rings_, 0);
  bell_.notify();
  run_ready(io_);
  EXPECT_EQ(rings_, 1);
  bell_.notify();
  run_ready(io_);
  EXPECT_EQ(rings_, 2);
  stop();
}

TEST_F(WakeupTest, SeveralRingsCountAsOne) {
  bell_.notify();
  bell_.notify();
  start(count_rings());
  EXPECT_EQ(rings_, 1);
  bell_.notify();
  bell_.notify();
  run_ready(io_);
  EXPECT_EQ(rings_, 2);
  stop();
}

TEST_F(WakeupTest, ResetForgetsARing) {
  bell_.notify();
  bell_.reset();
  start(count_rings());
  EXPECT_EQ(rings_, 0);
  stop();
}

TEST_F(WakeupTest, WaitUntilTellsARingFromTheDeadline) {
  start(keep_woken(far_away()));
  EXPECT_EQ(woken_, std::nullopt);
  bell_.notify();
  run_ready(io_);
  EXPECT_EQ(woken_, Wakeup::Woken::rung);
  EXPECT_EQ(run_task(io_, bell_.wait_until(long_ago())), Wakeup::Woken::timed_out);
}

TEST_F(WakeupTest, ARingBeforeWaitUntilCountsAlsoAfterTheDeadline) {
  bell_.notify();
  EXPECT_EQ(run_task(io_, bell_.wait_until(long_ago())), Wakeup::Woken::rung);
  EXPECT_EQ(run_task(io_, bell_.wait_until(long_ago())), Wakeup::Woken::timed_out);
}

TEST_F(WakeupTest, AfterATimeoutTheBellStillWorks) {
  EXPECT_EQ(run_task(io_, bell_.wait_until(long_ago())), Wakeup::Woken::timed_out);
  start(count_rings());
  bell_.notify();
  run_ready(io_);
  EXPECT_EQ(rings_, 1);
  stop();
}

class ChannelTest : public testing::Test {
 protected:
  using Numbers = Channel<std::unique_ptr<int>>;

  Numbers::Sent send(int number) { return channel_.try_send(std::make_unique<int>(number)); }

  int receive() { return **run_task(io_, channel_.receive()); }

  Task<void> receive_all() {
    for (;;) {
      auto item = co_await channel_.receive();
      if (!item) break;
      received_.push_back(**item);
    }
    ended_ = true;
  }
  void start_receiving() {
    group_.spawn("receive", receive_all());
    run_ready(io_);
  }

  asio::io_context io_{1};
  Numbers channel_{io_.get_executor(), 3};
  std::vector<int> received_;
  bool ended_ = false;
  TaskGroup group_{io_.get_executor(),
                   [](const char*, const std::string& what) { FAIL() << what; }};
};

TEST_F(ChannelTest, ItemsComeInTheOrderTheyWereSent) {
  start_receiving();
  for (int number : {1, 2, 3}) EXPECT_EQ(send(number), Numbers::Sent::yes);
  run_ready(io_);
  EXPECT_EQ(send(4), Numbers::Sent::yes);
  channel_.close();
  run_task(io_, group_.join());
  EXPECT_EQ(received_, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_TRUE(ended_);
}

TEST_F(ChannelTest, AFullChannelRefusesWithoutLosingAnything) {
  for (int number : {1, 2, 3}) EXPECT_EQ(send(number), Numbers::Sent::yes);
  EXPECT_EQ(send(4), Numbers::Sent::full);
  EXPECT_EQ(channel_.size(), 3U);
  EXPECT_EQ(receive(), 1);
  EXPECT_EQ(send(5), Numbers::Sent::yes);
  EXPECT_EQ(receive(), 2);
  EXPECT_EQ(receive(), 3);
  EXPECT_EQ(receive(), 5);
  EXPECT_EQ(channel_.size(), 0U);
}

TEST_F(ChannelTest, WhatWasSentBeforeCloseStaysReceivable) {
  EXPECT_EQ(send(1), Numbers::Sent::yes);
  EXPECT_EQ(send(2), Numbers::Sent::yes);
  channel_.close();
  EXPECT_EQ(send(3), Numbers::Sent::closed);
  start_receiving();
  EXPECT_EQ(received_, (std::vector<int>{1, 2}));
  EXPECT_TRUE(ended_);
}

TEST_F(ChannelTest, CloseWakesAReceiver) {
  start_receiving();
  EXPECT_FALSE(ended_);
  channel_.close();
  run_task(io_, group_.join());
  EXPECT_TRUE(ended_);
}

TEST_F(ChannelTest, ACancelledReceiverTakesNothing) {
  start_receiving();
  run_task(io_, group_.stop(CancelReason::shutdown));
  EXPECT_EQ(send(1), Numbers::Sent::yes);
  run_ready(io_);
  EXPECT_EQ(channel_.size(), 1U);
  EXPECT_FALSE(ended_);
}

}  // namespace
}  // namespace errand::wakeup_test
