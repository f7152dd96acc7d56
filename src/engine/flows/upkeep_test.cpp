#include <gtest/gtest.h>

#include "engine/flows/test_world.hpp"

namespace errand::engine::testing::upkeep_test {
namespace {

constexpr std::string_view kPlain = R"({"turns":[{"text":["Hello"]}]})";
constexpr std::chrono::hours kKept{24};

struct UpkeepTest : ::testing::Test {
  Disk disk;
  World world{disk, kPlain, {}, Limits{.keep_runs = kKept}};
  Client client{.spec = spec_with_tools({})};

  UpkeepTest() {
    world.engine.start();
    world.tasks.spawn("client", client.go(&world));
    world.run_until([this] { return client.done; });
  }
  bool exists() { return world.result_of(world.engine.get(someone(), *client.run)).has_value(); }
};

TEST_F(UpkeepTest, AnEndedRunIsRemovedOnceItsTimeIsUp) {
  WallTime ended = disk.clock.now();

  world.run_until([this] { return !exists(); });

  EXPECT_FALSE(exists());
  EXPECT_GE(disk.clock.now(), ended + kKept);
  EXPECT_LT(disk.clock.now(), ended + kKept + std::chrono::minutes(5));
}

TEST_F(UpkeepTest, AnEndedRunStaysAsLongAsSomebodyReadsIt) {
  auto reader = world.result_of(world.engine.subscribe(someone(), *client.run, 0)).value();
  WallTime later = disk.clock.now() + kKept + std::chrono::hours(3);

  world.run_until([&] { return disk.clock.now() > later; });
  EXPECT_TRUE(exists());
  auto batch = world.result_of(reader->next(SteadyTime::max()));
  EXPECT_EQ(batch.state, Subscription::Batch::State::ended);
  EXPECT_FALSE(batch.segments.empty());

  reader.reset();
  world.run_until([this] { return !exists(); });
  EXPECT_FALSE(exists());
}

TEST_F(UpkeepTest, NothingIsRemovedThatIsToBeKept) {
  World forever(disk, kPlain);
  forever.engine.start();
  WallTime later = disk.clock.now() + 2 * kKept;

  forever.run_until([&] { return disk.clock.now() > later; });

  EXPECT_TRUE(forever.result_of(forever.engine.get(someone(), *client.run)));
}

}  // namespace
}  // namespace errand::engine::testing::upkeep_test
