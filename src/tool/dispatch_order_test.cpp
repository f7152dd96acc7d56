#include "tool/dispatch_order.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/assert.hpp"

namespace errand::dispatch_order_test {
namespace {

// What may start, drawn: "p" is a parallel call and "b" a barrier, in capitals if it has finished.
// The answer has "+" for each call that may start and "-" for each that must wait.
std::string startable(std::string_view calls) {
  DispatchOrder order;
  for (char c : calls) {
    order.add(c == 'b' || c == 'B' ? DispatchOrder::Kind::barrier : DispatchOrder::Kind::parallel);
  }
  std::string out;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i] == 'P' || calls[i] == 'B') order.finished(i);
  }
  for (std::size_t i = 0; i < calls.size(); ++i) out.push_back(order.may_start(i) ? '+' : '-');
  return out;
}

TEST(DispatchOrder, ParallelCallsStartAtOnce) {
  EXPECT_EQ(startable("p"), "+");
  EXPECT_EQ(startable("ppp"), "+++");
}

TEST(DispatchOrder, ABarrierWaitsForEveryEarlierCall) {
  EXPECT_EQ(startable("b"), "+");
  EXPECT_EQ(startable("pb"), "+-");
  EXPECT_EQ(startable("ppb"), "++-");
  EXPECT_EQ(startable("Ppb"), "++-");
  EXPECT_EQ(startable("pPb"), "++-");
  EXPECT_EQ(startable("PPb"), "+++");
}

TEST(DispatchOrder, EveryLaterCallWaitsForABarrier) {
  EXPECT_EQ(startable("bp"), "+-");
  EXPECT_EQ(startable("bpp"), "+--");
  EXPECT_EQ(startable("Bpp"), "+++");
  EXPECT_EQ(startable("pbp"), "+--");
  EXPECT_EQ(startable("Pbp"), "++-");
  EXPECT_EQ(startable("PBp"), "+++");
}

TEST(DispatchOrder, BarriersGoOneAfterTheOther) {
  EXPECT_EQ(startable("bb"), "+-");
  EXPECT_EQ(startable("Bb"), "++");
  EXPECT_EQ(startable("bbb"), "+--");
  EXPECT_EQ(startable("BbbP"), "++--");
  EXPECT_EQ(startable("BBbp"), "+++-");
}

TEST(DispatchOrder, CallsAfterABarrierRunBesideEachOther) {
  EXPECT_EQ(startable("PBppb"), "++++-");
  EXPECT_EQ(startable("PBpPb"), "++++-");
  EXPECT_EQ(startable("PBPPb"), "+++++");
}

TEST(DispatchOrder, ACallThatIsAddedLaterObeysWhatIsThere) {
  DispatchOrder order;
  order.add(DispatchOrder::Kind::barrier);
  EXPECT_TRUE(order.may_start(0));
  order.add(DispatchOrder::Kind::parallel);
  EXPECT_FALSE(order.may_start(1));
  order.finished(0);
  EXPECT_TRUE(order.may_start(1));
}

TEST(DispatchOrder, ACallThatWasNeverAddedIsABug) {
  DispatchOrder order;
  EXPECT_THROW((void)order.may_start(0), AssertionFailed);
  EXPECT_THROW(order.finished(0), AssertionFailed);
}

}  // namespace
}  // namespace errand::dispatch_order_test
