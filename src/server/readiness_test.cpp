// What /readyz says while the runs of the last process are taken over.
#include <gtest/gtest.h>

#include <cstddef>

#include "server/test_served.hpp"

namespace errand::server::readiness_test {
namespace {

using engine::testing::Disk;
using engine::testing::someone;
using engine::testing::World;
using test::Served;

constexpr std::string_view kSlow = R"({"turns":[{"delayMs":60000,"text":["at last"]}]})";
constexpr std::size_t kRuns = 100;
constexpr std::size_t kPage = 64;  // runs that are claimed at once

TEST(Readiness, SaysHowManyRunsAreLeftToTakeOver) {
  Disk disk;
  {
    World world(disk, kSlow);
    for (std::size_t i = 0; i < kRuns; ++i) {
      Spec spec;
      spec.prompt = "go";
      ASSERT_TRUE(world.result_of(world.engine.create(someone(), std::move(spec), {})));
    }
  }
  Served served(disk, kSlow);
  int claims = 0;
  served.world.fault = [&claims](FaultyStore::Operation op) {
    const bool is_second = op.kind == FaultyStore::Kind::claim && ++claims == 2;
    return is_second ? FaultyStore::Fault::fail_before : FaultyStore::Fault::none;
  };
  served.world.tasks.spawn("recover", served.world.engine.recover());
  served.world.settle();

  served.send(served.request("/readyz"));
  ASSERT_TRUE(served.answer);
  EXPECT_EQ(served.answer->status, 503);
  EXPECT_TRUE(served.answer->is_not_yet);
  EXPECT_EQ(served.answer->body, cat(R"({"error":"recovering","code":"recovering","message":)",
                                     R"("runs of the last process are being taken over: )",
                                     kRuns - kPage, R"( are left"})"));

  served.world.pass(seconds(10));
  served.send(served.request("/readyz"));
  ASSERT_TRUE(served.answer);
  EXPECT_EQ(served.answer->status, 200);
}

}  // namespace
}  // namespace errand::server::readiness_test
