// Answers that are long are written on the pool, so that nobody on the home waits for them.
#include <gtest/gtest.h>

#include <string>

#include "async/breath.hpp"
#include "server/test_served.hpp"

namespace errand::server::long_answers_test {
namespace {

using engine::testing::Disk;
using engine::testing::someone;
using engine::testing::WithPool;
using engine::testing::World;
using test::Served;

constexpr std::string_view kAnswer = R"({"turns":[{"text":["ok"]}]})";
constexpr std::size_t kHalf = kBytesInABreath / 2 + 1;

struct LongAnswersTest : ::testing::Test {
  Disk disk;

  // An ended run whose question and answer have so many bytes each.
  RunId ended_run(std::size_t bytes) {
    World world(disk, cat(R"({"turns":[{"text":[")", std::string(bytes, 'x'), R"("]}]})"));
    Spec spec;
    spec.prompt = std::string(bytes, 'x');
    RunId run = world.result_of(world.engine.create(someone(), std::move(spec), {})).value();
    world.pass(milliseconds(1000));
    return run;
  }
  // What is read under a long run.
  void expect_from_the_pool(std::string_view path) {
    const RunId run = ended_run(kHalf);
    Served served(disk, kAnswer, WithPool::yes);
    served.get(cat("/agent-runs/", run.view(), path));
    EXPECT_FALSE(served.answer);

    served.world.pool->finish();
    served.world.settle();
    ASSERT_TRUE(served.answer);
    EXPECT_EQ(served.answer->status, 200);
    EXPECT_GT(served.answer->body.size(), 2 * kHalf);
  }
};

TEST_F(LongAnswersTest, ALongRunIsShownFromThePool) {
  expect_from_the_pool("");
}

TEST_F(LongAnswersTest, ALongPageOfEventsIsMadeOnThePool) {
  expect_from_the_pool("/events");
}

TEST_F(LongAnswersTest, ALongPageOfAJournalIsMadeOnThePool) {
  expect_from_the_pool("/journal");
}

TEST_F(LongAnswersTest, AShortRunIsShownAtOnce) {
  const RunId run = ended_run(10);
  Served served(disk, kAnswer, WithPool::yes);
  served.get(cat("/agent-runs/", run.view()));
  ASSERT_TRUE(served.answer);
  EXPECT_EQ(served.answer->status, 200);
}

}  // namespace
}  // namespace errand::server::long_answers_test
