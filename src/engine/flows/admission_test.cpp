// One admission queue: which runs may start, and which wait and say so.
#include "engine/flows/test_session.hpp"

namespace errand::engine::testing::admission_test {
namespace {

constexpr std::string_view kSlow =
    R"({"turns":[{"text":["Done."],"delayMs":1000},{"text":["Done."],"delayMs":1000}]})";
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
  // Lets those that are being asked answer, and those that start then say so.
  static void pass_a_turn(World& world) {
    world.pass(milliseconds(1000));
    world.pass(milliseconds(100));
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

  pass_a_turn(world);
  EXPECT_EQ(statuses_of_all(world), (Lines{"succeeded", "running", "queued"}));
  pass_a_turn(world);
  pass_a_turn(world);
  EXPECT_TRUE(are_all(world, "succeeded"));
  check();
}

TEST_F(AdmissionTest, AMessageThatGetsItsTurnStaysQueuedUntilThereIsASlot) {
  World world(disk, kSlow, {}, kOneAtATime);
  send_to_sessions(world, 1);
  runs.push_back(*send(world, "Again"));
  create(world, 1);
  EXPECT_EQ(statuses_of_all(world), (Lines{"running", "queued", "queued"}));

  pass_a_turn(world);
  EXPECT_EQ(statuses_of_all(world), (Lines{"succeeded", "queued", "running"}));
  check();
  pass_a_turn(world);
  pass_a_turn(world);
  EXPECT_TRUE(are_all(world, "succeeded"));
}

TEST_F(AdmissionTest, AMessageWhoseOutcomeWasLostWaitsForASlot) {
  World world(disk, kSlow, {}, kOneAtATime);
  create(world, 1);
  world.fault = [](FaultyStore::Operation op) {
    return op.kind == FaultyStore::Kind::create ? FaultyStore::Fault::fail_after
                                                : FaultyStore::Fault::none;
  };
  begin(world);
  runs.push_back(*send(world, "Hi"));
  world.fault = nullptr;
  EXPECT_EQ(statuses_of_all(world), (Lines{"running", "queued"}));
  EXPECT_EQ(world.engine.slots().waiting(), 1U);
  EXPECT_EQ(world.asked, 1);

  pass_a_turn(world);
  EXPECT_EQ(statuses_of_all(world), (Lines{"succeeded", "running"}));
  pass_a_turn(world);
  EXPECT_TRUE(are_all(world, "succeeded"));
  EXPECT_EQ(world.asked, 2);
  check();
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
  for (int i = 0; i < 20; ++i) pass_a_turn(world);
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
  pass_a_turn(world);
  pass_a_turn(world);
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
  for (int i = 0; i < 3; ++i) pass_a_turn(world);
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

TEST_F(AdmissionTest, ARunThatWasCancelledBeforeAKillNeedsNoSlot) {
  struct Client {
    static Task<void> cancel(World* world, RunId run) {
      [[maybe_unused]] auto lost = co_await world->engine.cancel(someone(), std::move(run));
    }
  };
  {
    World world(disk, kSlow);
    create(world, 2);
    world.fault = [](FaultyStore::Operation op) {
      return op.kind == FaultyStore::Kind::mail ? FaultyStore::Fault::stop_after
                                                : FaultyStore::Fault::none;
    };
    world.tasks.spawn("client", Client::cancel(&world, runs[1]));
    world.settle();
  }
  World world(disk, kSlow, {}, {.slots = {.in_all = 1}});
  world.engine.start();
  world.settle();
  EXPECT_EQ(statuses_of_all(world), (Lines{"running", "cancelled"}));
  EXPECT_EQ(world.asked, 1);
  check();
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
  pass_a_turn(world);
  EXPECT_EQ(world.asked, 4);
  pass_a_turn(world);
  EXPECT_EQ(world.engine.turns().turns(), 0U);
}

TEST_F(AdmissionTest, ARunWhoseFirstTurnHasToWaitSaysThatItIsQueued) {
  World world(disk, kSlow, {}, {.turns = {.turns = 2}});
  create(world, 3);
  EXPECT_EQ(statuses_of_all(world), (Lines{"running", "running", "queued"}));
  EXPECT_EQ(world.engine.turns().waiting(), 1U);
  check();
  pass_a_turn(world);
  EXPECT_EQ(status(world, runs[2]), "running");
  pass_a_turn(world);
  EXPECT_TRUE(are_all(world, "succeeded"));
  check();
}

TEST_F(AdmissionTest, ARunThatWaitsForTheMemoryOfItsFilesSaysThatItIsQueued) {
  // The bytes of a file are in memory three times: as they are, and twice as base64.
  World world(disk, kSlow, {}, {.turns = {.file_bytes = 40}});
  for (std::string_view name : {"one", "two"}) {
    Spec spec = spec_with_files({}, {sent_file(std::string(name), "12345")});
    runs.push_back(*world.result_of(world.engine.create(someone(), std::move(spec), {})));
  }
  create(world, 1);
  EXPECT_EQ(world.engine.turns().file_bytes(), 21U);
  EXPECT_EQ(statuses_of_all(world), (Lines{"running", "queued", "running"}));
  pass_a_turn(world);
  EXPECT_EQ(status(world, runs[1]), "running");
  pass_a_turn(world);
  EXPECT_TRUE(are_all(world, "succeeded"));
  check();
}

struct Creating {
  static Task<void> create(World* world, std::vector<RunId>* runs) {
    Spec spec;
    spec.prompt = "Hi";
    auto run = co_await world->engine.create(someone(), std::move(spec), {});
    runs->push_back(*run);
  }
};

TEST_F(AdmissionTest, RunsThatAreCreatedTogetherDoNotCountOnTheSameSlot) {
  World world(disk, kSlow, {}, kOneAtATime);
  for (int i = 0; i < 3; ++i) world.tasks.spawn("client", Creating::create(&world, &runs));
  world.settle();
  EXPECT_EQ(statuses_of_all(world), (Lines{"running", "queued", "queued"}));
  EXPECT_EQ(world.asked, 1);
  EXPECT_EQ(world.engine.slots().waiting(), 2U);
  for (int i = 0; i < 3; ++i) pass_a_turn(world);
  EXPECT_TRUE(are_all(world, "succeeded"));
  EXPECT_EQ(world.asked, 3);
  check();
}

TEST_F(AdmissionTest, ASlotThatWasKeptForARunThatIsNotCreatedIsFreeAgain) {
  World world(disk, kSlow, {}, kOneAtATime);
  world.fault = [](FaultyStore::Operation op) {
    return op.kind == FaultyStore::Kind::create ? FaultyStore::Fault::fail_before
                                                : FaultyStore::Fault::none;
  };
  Spec spec;
  spec.prompt = "Hi";
  EXPECT_FALSE(world.result_of(world.engine.create(someone(), std::move(spec), {})));
  world.fault = nullptr;
  EXPECT_EQ(world.engine.slots().in_flight(), 0U);
  create(world, 1);
  EXPECT_EQ(statuses_of_all(world), (Lines{"running"}));
}

TEST_F(AdmissionTest, ATurnThatWaitsForAnotherIsCutOffWithTheTimeOfItsRun) {
  constexpr std::string_view kLong = R"({"turns":[{"text":["Done."],"delayMs":3600000}]})";
  World world(disk, kLong, {}, {.run_time = seconds(60), .turns = {.turns = 1}});
  create(world, 2);
  world.pass(milliseconds(100));
  EXPECT_EQ(world.asked, 1);

  world.pass(seconds(61));
  EXPECT_TRUE(are_all(world, "failed"));
  EXPECT_EQ(world.asked, 1) << "the turn that was waiting is not made";
  check();
}

}  // namespace
}  // namespace errand::engine::testing::admission_test
