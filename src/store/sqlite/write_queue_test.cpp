#include "store/sqlite/write_queue.hpp"

#include <gtest/gtest.h>

namespace errand::sqlite {
namespace {

class CountedItem final : public WriteItem {
 public:
  explicit CountedItem(int* refused) : refused_(refused) {}
  void apply(Changes&) override {}
  void finish() override {}
  void fail(const Error& error) override { *refused_ += error.code() == ErrorCode::unavailable; }

 private:
  int* refused_;
};

TEST(WriteQueue, RefusesWhatIsBeyondItsBound) {
  WriteQueue queue;
  int refused = 0;
  for (std::size_t i = 0; i < WriteQueue::kItemsMax + 3; ++i) {
    EXPECT_EQ(queue.push(std::make_unique<CountedItem>(&refused)),
              WriteQueue::Pushed::no_need_to_wake);
  }
  WriteBatch batch;

  EXPECT_TRUE(queue.take(batch));

  EXPECT_EQ(batch.size(), WriteQueue::kItemsMax);
  EXPECT_EQ(refused, 3);
}

TEST(WriteQueue, GivesWhatIsLeftBeforeItStops) {
  WriteQueue queue;
  int refused = 0;
  EXPECT_EQ(queue.push(std::make_unique<CountedItem>(&refused)),
            WriteQueue::Pushed::no_need_to_wake);
  queue.stop();
  WriteBatch batch;

  EXPECT_TRUE(queue.take(batch));
  EXPECT_EQ(batch.size(), 1U);
  batch.clear();
  EXPECT_FALSE(queue.take(batch));
}

}  // namespace
}  // namespace errand::sqlite
