// One admission queue: which runs may start, and which wait and say so.
#include "engine/test_session.hpp"

namespace errand::engine::testing {
namespace {

constexpr std::string_view kSlow = R"({"turns":[{"text":["Done."],"delayMs":1000}]})";
constexpr Limits kOneAtATime{.slots = {.per_workspace = 1}};

struct AdmissionTest : SessionTest {
  std::vector<RunId> runs;

  // A message in each of so many new sessions.
  void send_to_sessions(World& world, int count) {
    for (int i = 0; i < count; ++i) {
      begin(world);
      runs.push_back(*send(world, "Hi"));
    }
  }
  void create(World& world, int count) {
    for (int i = 0; i < count; ++i) {
      Spec spec;
      spec.prompt = "Hi";
      runs.push_back(*world.result_of(world.engine.create(someone(), spec, {})));
    }
  }
  Lines statuses_of_all(World& world) { return statuses(world, runs); }
  bool are_all(World& world, std::string_view word) {
    for (const std::string& each : statuses_of_all(world)) {
      if (each != word) return false;
    }
    return true;
  }
};

TEST_F(AdmissionTest, MessagesOfSessionsWaitForASlotAndSaySo) {
  World world(disk, kSlow, {}, kOneAtATime);
  send_to_sessions(world, 3);
  EXPECT_EQ(statuses_of_all(world), (Lines{"running", "queued", "queued"}));
  EXPECT_EQ(world.asked, 1);
  check();

  world.pass(milliseconds(1100));
  EXPECT_EQ(statuses_of_all(world), (Lines{"succeeded", "running", "queued"}));
  world.pass(milliseconds(1100));
  world.pass(milliseconds(1100));
  EXPECT_TRUE(are_all(world, "succeeded"));
  check();
}

TEST_F(AdmissionTest, AMessageThatGetsItsTurnStaysQueuedUntilThereIsASlot) {
  World world(disk, kSlow, {}, kOneAtATime);
  send_to_sessions(world, 1);
  runs.push_back(*send(world, "Again"));
  create(world, 1);
  EXPECT_EQ(statuses_of_all(world), (Lines{"running", "queued", "queued"}));

  world.pass(milliseconds(1100));
  EXPECT_EQ(statuses_of_all(world), (Lines{"succeeded", "queued", "running"}));
  check();
  world.pass(milliseconds(1100));
  world.pass(milliseconds(1100));
  EXPECT_TRUE(are_all(world, "succeeded"));
}

TEST_F(AdmissionTest, AfterAKillSessionsWaitForASlotAgain) {
  {
    World world(disk, kSlow, {}, kOneAtATime);
    send_to_sessions(world, 20);
    EXPECT_EQ(world.asked, 1);
  }
  World world(disk, kSlow, {}, kOneAtATime);
  world.engine.start();
  world.settle();
  EXPECT_EQ(world.asked, 1);
  EXPECT_EQ(world.engine.slots().in_flight(), 1U);
  EXPECT_EQ(world.engine.slots().waiting(), 19U);
  for (int i = 0; i < 20; ++i) world.pass(milliseconds(1100));
  EXPECT_TRUE(are_all(world, "succeeded"));
  EXPECT_EQ(world.asked, 20);
  check();
}

TEST_F(AdmissionTest, AfterAKillAMessageThatWaitsForItsTurnTakesNoSlot) {
  {
    World world(disk, kSlow, {}, kOneAtATime);
    send_to_sessions(world, 1);
    runs.push_back(*send(world, "Again"));
  }
  World world(disk, kSlow, {}, kOneAtATime);
  world.engine.start();
  world.settle();
  EXPECT_EQ(world.engine.slots().waiting(), 0U);
  EXPECT_EQ(world.engine.count(Place::resting), 1U);
  world.pass(milliseconds(1100));
  world.pass(milliseconds(1100));
  EXPECT_TRUE(are_all(world, "succeeded"));
}

TEST_F(AdmissionTest, RunsOfAFormerProcessGoOnAsSlotsAllow) {
  {
    World world(disk, kSlow);
    create(world, 5);
    EXPECT_EQ(world.asked, 5);
  }
  World world(disk, kSlow, {}, {.slots = {.in_all = 2}});
  world.engine.start();
  world.settle();
  EXPECT_EQ(world.asked, 2);
  EXPECT_EQ(world.engine.count(Place::queued), 3U);
  for (int i = 0; i < 3; ++i) world.pass(milliseconds(1100));
  EXPECT_TRUE(are_all(world, "succeeded"));
  EXPECT_EQ(world.asked, 5);
  check();
}

TEST_F(AdmissionTest, ACancelledRunOfAFormerProcessNeedsNoSlot) {
  {
    World world(disk, kSlow);
    create(world, 2);
  }
  World world(disk, kSlow, {}, {.slots = {.in_all = 1}});
  world.engine.start();
  world.settle();
  EXPECT_EQ(world.engine.count(Place::queued), 1U);
  ASSERT_TRUE(world.result_of(world.engine.cancel(someone(), runs[1])));
  world.settle();
  EXPECT_EQ(statuses_of_all(world), (Lines{"running", "cancelled"}));
  EXPECT_EQ(world.asked, 1);
}

TEST_F(AdmissionTest, TurnsBeyondTheLimitWaitForOthersToEnd) {
  World world(disk, kSlow, {}, {.turns = {.turns = 2}});
  create(world, 5);
  EXPECT_EQ(world.asked, 2);
  EXPECT_EQ(world.engine.turns().waiting(), 3U);
  ASSERT_TRUE(world.result_of(world.engine.cancel(someone(), runs[4])));
  world.settle();
  EXPECT_EQ(status(world, runs[4]), "cancelled");
  EXPECT_EQ(world.engine.turns().waiting(), 2U);
  world.pass(milliseconds(1100));
  EXPECT_EQ(world.asked, 4);
  world.pass(milliseconds(1100));
  EXPECT_EQ(world.engine.turns().turns(), 0U);
}

}  // namespace
}  // namespace errand::engine::testing
