#include "store/sqlite/write_queue.hpp"

#include <gtest/gtest.h>

#include <future>

namespace errand::sqlite::write_queue_test {
namespace {

using Pushed = WriteQueue::Pushed;

// Nobody waits for these items, and nothing runs there.
Executor nowhere() {
  static asio::io_context io(1);
  return io.get_executor();
}

class IdleItem final : public WriteItem {
 public:
  explicit IdleItem(std::size_t bytes) : bytes_(bytes) {}
  Executor home() const override { return nowhere(); }
  std::size_t bytes() const override { return bytes_; }
  void apply(Changes&) override {}
  void fail(const Error&) override {}
  void drop_change() override {}
  void resume() override {}

 private:
  const std::size_t bytes_;
};

Pushed push(WriteQueue& queue, std::size_t bytes = 0) {
  std::unique_ptr<WriteItem> item = std::make_unique<IdleItem>(bytes);
  const Pushed pushed = queue.push(item);
  EXPECT_EQ(item != nullptr, pushed == Pushed::refused);
  return pushed;
}

std::size_t take(WriteQueue& queue) {
  WriteBatch batch;
  queue.take(batch);
  return batch.size();
}

TEST(WriteQueue, TheFirstOneAsksForAWakeThatOthersMayPrecede) {
  WriteQueue queue;
  EXPECT_EQ(push(queue), Pushed::wake);
  EXPECT_EQ(push(queue), Pushed::no_need_to_wake);
  queue.wake();

  EXPECT_EQ(take(queue), 2U);
  EXPECT_EQ(push(queue), Pushed::wake) << "the next ones have a wake of their own";
}

TEST(WriteQueue, EnoughOfThemAreTakenWithoutAWake) {
  WriteQueue queue;
  for (std::size_t i = 0; i < WriteQueue::kEnough; ++i) static_cast<void>(push(queue));

  EXPECT_EQ(take(queue), WriteQueue::kEnough);
}

TEST(WriteQueue, AWakeThatComesTooLateEndsNoWait) {
  WriteQueue queue;
  for (std::size_t i = 0; i < WriteQueue::kEnough; ++i) static_cast<void>(push(queue));
  EXPECT_EQ(take(queue), WriteQueue::kEnough);
  queue.wake();

  auto taken = std::async(std::launch::async, [&queue] { return take(queue); });
  EXPECT_EQ(push(queue), Pushed::wake);
  queue.wake();

  EXPECT_EQ(taken.get(), 1U);
}

TEST(WriteQueue, RefusesWhatIsBeyondItsBound) {
  WriteQueue queue;
  for (std::size_t i = 0; i < WriteQueue::kItemsMax; ++i) EXPECT_NE(push(queue), Pushed::refused);

  EXPECT_EQ(push(queue), Pushed::refused);
  EXPECT_EQ(take(queue), WriteQueue::kItemsMax);
}

TEST(WriteQueue, RefusesWhatHasTooManyBytesUntilTheOthersAreTaken) {
  WriteQueue queue;
  EXPECT_NE(push(queue, WriteQueue::kBytesMax - 10), Pushed::refused);
  EXPECT_EQ(push(queue, 11), Pushed::refused);
  EXPECT_NE(push(queue, 10), Pushed::refused);
  EXPECT_EQ(push(queue, 1), Pushed::refused);
  EXPECT_NE(push(queue, 0), Pushed::refused);
  EXPECT_EQ(queue.bytes(), WriteQueue::kBytesMax);
  queue.wake();

  EXPECT_EQ(take(queue), 3U);
  EXPECT_EQ(queue.bytes(), 0U);
  EXPECT_NE(push(queue, 11), Pushed::refused);
}

TEST(WriteQueue, TakesAnItemOfAnySizeIfNothingElseWaits) {
  WriteQueue queue;

  EXPECT_NE(push(queue, 2 * WriteQueue::kBytesMax), Pushed::refused);
  EXPECT_EQ(push(queue, 1), Pushed::refused);
}

TEST(WriteQueue, GivesWhatIsLeftBeforeItStops) {
  WriteQueue queue;
  EXPECT_EQ(push(queue), Pushed::wake);
  queue.stop();
  WriteBatch batch;

  EXPECT_TRUE(queue.take(batch));
  EXPECT_EQ(batch.size(), 1U);
  batch.clear();
  EXPECT_FALSE(queue.take(batch));
}

}  // namespace
}  // namespace errand::sqlite::write_queue_test
