#include <gtest/gtest.h>

#include <algorithm>
#include <set>

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

  world.run_until([&] { return disk.clock.now() >= ended + kKept - seconds(5); });
  EXPECT_LT(disk.clock.now(), ended + kKept);
  EXPECT_TRUE(exists());
  world.run_until([this] { return !exists(); });

  EXPECT_FALSE(exists());
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

// So long that retention removes two of these runs in one step, and the third in the next.
std::string long_script() {
  std::string words;
  for (int i = 0; i < 130; ++i) append(words, i > 0 ? "," : "", "\"word \"");
  return cat(R"({"turns":[{"deltaDelayMs":10,"text":[)", words, "]}]}");
}

constexpr int kLongRuns = 3;
constexpr milliseconds kShort{30'000};

void make_long_runs(Disk& disk) {
  World world(disk, long_script());
  std::vector<RunId> runs;
  for (int i = 0; i < kLongRuns; ++i) {
    auto made = world.result_of(world.engine.create(someone(), spec_with_tools({}), {}));
    runs.push_back(made.value());
  }
  world.run_until([&] {
    return std::all_of(runs.begin(), runs.end(), [&](const RunId& run) {
      return is_terminal(world.result_of(world.engine.get(someone(), run))->row.status);
    });
  });
}

std::size_t runs_on(Disk& disk) {
  auto rows = read_disk<std::vector<RunRow>>(
      disk, [](Store* store) { return store->all_runs({}, kLongRuns + 1); });
  return rows.size();
}

constexpr int kNever = -1;

// A process that removes them, and is killed at the given step, if it comes so far. Whether it was.
bool remove_long_runs(Disk& disk, int killed_at, FaultyStore::Fault fault) {
  World world(disk, long_script(), {}, Limits{.keep_runs = kShort});
  int steps = 0;
  world.fault = [&](FaultyStore::Operation op) {
    const bool is_step = op.kind == FaultyStore::Kind::prune;
    return is_step && ++steps == killed_at ? fault : FaultyStore::Fault::none;
  };
  world.engine.start();
  world.run_until([&] {
    return steps == killed_at || world.result_of(world.store.all_runs({}, kLongRuns))->empty();
  });
  return steps == killed_at;
}

// A step of which the answer never comes was made, or was not.
TEST(RetentionKill, EveryStepCanBeTheLastOne) {
  std::set<std::size_t> left;
  for (auto fault : {FaultyStore::Fault::fail_before, FaultyStore::Fault::fail_after}) {
    for (int at = 1;; ++at) {
      SCOPED_TRACE(cat("killed at step ", at));
      Disk disk;
      make_long_runs(disk);
      ASSERT_EQ(runs_on(disk), static_cast<std::size_t>(kLongRuns));
      const bool is_killed = remove_long_runs(disk, at, fault);
      EXPECT_EQ(findings_of(disk), std::vector<std::string>()) << "what the process left";
      left.insert(runs_on(disk));
      remove_long_runs(disk, kNever, FaultyStore::Fault::none);
      EXPECT_EQ(runs_on(disk), 0U);
      if (!is_killed) break;
    }
  }
  EXPECT_EQ(left, (std::set<std::size_t>{0, 1, 3})) << "it was killed between its steps, too";
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
