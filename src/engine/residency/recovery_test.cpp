// What a new process makes of the runs of the last one, and nodes of each other's.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/flows/test_world.hpp"

namespace errand::engine::testing::recovery_test {
namespace {

constexpr std::string_view kTwoCalls = R"({"turns":[
  {"toolCalls":[{"name":"look"},{"name":"look"}]},{"text":["Seen."]}]})";
constexpr std::string_view kSlow = R"({"turns":[{"delayMs":60000,"text":["at last"]}]})";
constexpr milliseconds kLease{15'000};

std::string last_type(const Client& client) {
  return client.seen.empty() ? "" : type_of_line(client.seen.back());
}

struct Answerer {
  static Task<void> answer(World* world, RunId run, std::string id) {
    auto answered = co_await world->engine.answer(someone(), run, {.tool_use_id = id});
    EXPECT_TRUE(answered);
  }
};

struct RecoveryTest : ::testing::Test {
  Disk disk;
  Client client{.spec = spec_with_tools({client_tool("look")}), .answers = false};

  void pass(World& world, milliseconds duration) { testing::pass(disk, {&world}, duration); }
  // A process in which the client's run comes to wait for it.
  void wait_for_client(World& world) {
    world.engine.start();
    world.tasks.spawn("client", client.go(&world));
    world.run_until([this] { return client.pending.size() == 2; });
  }
  // All that is on the disk of a process that is gone.
  void leave_a_waiting_run() {
    disk = Disk();
    client = {.spec = client.spec, .answers = false};
    World world(disk, kTwoCalls);
    wait_for_client(world);
  }
  Result<void> answer(World& world, const std::string& id) {
    return world.result_of(world.engine.answer(someone(), *client.run, {.tool_use_id = id}));
  }
  std::vector<std::string> pending(World& world) {
    CallFilter all{.workspace = someone().workspace};
    std::vector<std::string> slots;
    for (const PendingCall& call : world.result_of(world.engine.pending_calls(all, {})).value()) {
      slots.push_back(call.box.slot);
    }
    return slots;
  }
  RunStatus status(World& world) {
    return world.result_of(world.engine.get(someone(), *client.run)).value().row.status;
  }
  Spec about(std::string prompt) {
    Spec spec;
    spec.prompt = std::move(prompt);
    return spec;
  }
  static Task<void> cancel(World* world, RunId run) {
    auto cancelled = co_await world->engine.cancel(someone(), run);
    EXPECT_TRUE(cancelled);
  }
  RunId create(World& world, std::string prompt) {
    return world.result_of(world.engine.create(someone(), about(std::move(prompt)), {})).value();
  }
};

TEST_F(RecoveryTest, ARunThatOnlyWaitsIsLeftAloneUntilItsAnswerComes) {
  {
    World world(disk, kTwoCalls);
    wait_for_client(world);
  }
  World world(disk, kTwoCalls);
  world.engine.start();
  world.settle();
  EXPECT_EQ(world.engine.count(Place::resting), 1U);
  EXPECT_TRUE(world.engine.is_recovered());

  client.answers = true;
  world.tasks.spawn("client", client.go(&world));
  world.run_until([this] { return client.done; });

  EXPECT_EQ(last_type(client), "result");
  EXPECT_EQ(world.asked, 1);
}

TEST_F(RecoveryTest, TimeWhileTheServerIsDownDoesNotCountAgainstACall) {
  {
    World world(disk, kTwoCalls);
    wait_for_client(world);
    pass(world, seconds(45));
  }
  disk.clock.pass(std::chrono::hours(5));
  World world(disk, kTwoCalls);
  world.engine.start();
  world.tasks.spawn("client", client.go(&world));

  pass(world, seconds(254));
  EXPECT_FALSE(client.done);
  pass(world, seconds(2));
  EXPECT_TRUE(client.done);
  EXPECT_NE(client.seen.back().find("error_local_tool_timeout"), std::string::npos);
}

TEST_F(RecoveryTest, AfterARestartACallHasAtLeastHalfAMinute) {
  {
    World world(disk, kTwoCalls);
    wait_for_client(world);
    pass(world, seconds(299));
  }
  World world(disk, kTwoCalls);
  world.engine.start();
  world.tasks.spawn("client", client.go(&world));

  pass(world, seconds(29));
  EXPECT_FALSE(client.done);
  pass(world, seconds(2));
  EXPECT_TRUE(client.done);
}

TEST_F(RecoveryTest, AJumpOfTheClockNeitherEndsNorStretchesAWait) {
  for (milliseconds jump : {milliseconds(3'600'000), milliseconds(-3'600'000)}) {
    SCOPED_TRACE(jump.count());
    disk = Disk();
    client = {.spec = client.spec, .answers = false};
    World world(disk, kTwoCalls);
    wait_for_client(world);
    pass(world, seconds(10));  // the run rests by now
    disk.clock.jump(jump);

    ASSERT_TRUE(answer(world, *client.pending.begin()));  // and is folded again
    pass(world, seconds(289));
    EXPECT_FALSE(client.done);
    pass(world, seconds(2));
    EXPECT_TRUE(client.done);
  }
}

// Whether the record of a process says that all runs that go on are on trial.
bool is_everyone_on_trial(Disk& disk) {
  auto records = read_disk<std::vector<Record>>(disk, [](Store* store) {
    return store->list_records({.workspace = {}, .kind = "trial", .after = {}});
  });
  return std::any_of(records.begin(), records.end(), [](const Record& record) {
    return record.body.find(R"("everyone":true)") != std::string::npos;
  });
}

TEST_F(RecoveryTest, TheRecordOfATrialIsThereBeforeAnybodyGoesOn) {
  {
    World world(disk, kSlow);
    create(world, "slow");
    world.settle();
  }
  World world(disk, kSlow);
  bool was_recorded = false;
  world.refuses = [&](const llm::TurnRequest&) {
    was_recorded = is_everyone_on_trial(disk);
    return false;
  };
  world.engine.start();
  world.settle();
  EXPECT_EQ(world.asked, 1);
  EXPECT_TRUE(was_recorded);
  EXPECT_TRUE(is_everyone_on_trial(disk));

  pass(world, seconds(120));
  EXPECT_FALSE(is_everyone_on_trial(disk)) << "a process that has come so far is past its trial";
}

// How far something has come when something else begins, in steps of the loop.
constexpr int kStepsMax = 40;

TEST_F(RecoveryTest, AMessageThatGetsItsTurnWhileItIsTakenOverIsAnsweredOnce) {
  for (int steps = 0; steps < kStepsMax; ++steps) {
    SCOPED_TRACE(steps);
    disk = Disk();
    std::vector<RunId> runs;
    SessionId session;
    {
      World world(disk, kSlow);
      SessionParams params{.spec = about("")};
      session = world.result_of(world.engine.create_session(someone(), params, {})).value();
      for (std::string text : {"first", "second"}) {
        SessionMessage message{.said = about(text)};
        runs.push_back(world.result_of(world.engine.send(someone(), session, message, {})).value());
      }
    }
    World world(disk, kSlow);
    world.tasks.spawn("recover", world.engine.recover());
    world.step(steps);
    // The first ends, and the second has its turn, wherever the recovery has come to.
    world.tasks.spawn("cancel", cancel(&world, runs[0]));
    pass(world, seconds(90));

    client.run = runs[0];
    EXPECT_EQ(status(world), RunStatus::cancelled);
    client.run = runs[1];
    EXPECT_EQ(status(world), RunStatus::succeeded);
    EXPECT_EQ(std::count(world.asked_about.begin(), world.asked_about.end(), "second"), 1);
    EXPECT_EQ(world.bugs, std::vector<std::string>());
    EXPECT_EQ(findings_of(disk), std::vector<std::string>());
  }
}

TEST_F(RecoveryTest, AnAnswerThatComesWhileTheRunIsReadIsTaken) {
  for (int steps = 0; steps < kStepsMax; ++steps) {
    SCOPED_TRACE(steps);
    disk = Disk();
    World world(disk, kTwoCalls);
    client.run = world.result_of(world.engine.create(someone(), client.spec, {})).value();
    pass(world, seconds(5));
    ASSERT_EQ(world.engine.count(Place::resting), 1U);

    std::vector<std::string> calls = pending(world);
    world.tasks.spawn("first", Answerer::answer(&world, *client.run, calls.at(0)));
    world.step(steps);
    world.tasks.spawn("second", Answerer::answer(&world, *client.run, calls.at(1)));
    pass(world, milliseconds(10));

    EXPECT_EQ(status(world), RunStatus::succeeded);
  }
}

TEST_F(RecoveryTest, AnAnswerThatComesWhileTheRunIsTakenOverIsTaken) {
  for (int steps = 0; steps < kStepsMax; ++steps) {
    SCOPED_TRACE(steps);
    leave_a_waiting_run();
    World world(disk, kTwoCalls);
    world.tasks.spawn("recover", world.engine.recover());
    world.step(steps);
    for (const std::string& call : client.pending) {
      world.tasks.spawn("answer", Answerer::answer(&world, *client.run, call));
    }
    pass(world, milliseconds(10));

    EXPECT_EQ(status(world), RunStatus::succeeded);
  }
}

TEST_F(RecoveryTest, AStopWhileRunsAreTakenOverLeavesNoDeadlineBehind) {
  for (int steps = 0; steps < kStepsMax; ++steps) {
    SCOPED_TRACE(steps);
    leave_a_waiting_run();
    World world(disk, kTwoCalls);
    world.engine.start();
    world.step(steps);

    world.tasks.spawn("stop", world.engine.stop());
    world.settle();

    EXPECT_EQ(world.timers.pending(), 0U);
  }
}

TEST_F(RecoveryTest, WithLittleLeaseLeftNoEffectIsBegun) {
  World world(disk, kSlow, {}, {}, kLease);
  world.engine.start();
  world.settle();
  bool store_is_there = false;
  world.fault = [&](FaultyStore::Operation op) {
    bool fails = op.kind == FaultyStore::Kind::renew && !store_is_there;
    return fails ? FaultyStore::Fault::fail_before : FaultyStore::Fault::none;
  };
  pass(world, seconds(11));

  create(world, "held back");
  EXPECT_EQ(world.asked, 0);
  store_is_there = true;
  pass(world, seconds(5));

  EXPECT_EQ(world.asked, 1);
}

TEST_F(RecoveryTest, AnotherNodeTakesOverWhatItsOwnerNoLongerRenews) {
  World first(disk, kTwoCalls, {}, {}, kLease);
  World second(disk, kTwoCalls, {}, {}, kLease);
  first.engine.start();
  second.engine.start();
  first.fault = [](FaultyStore::Operation op) {
    return op.kind == FaultyStore::Kind::renew ? FaultyStore::Fault::fail_before
                                               : FaultyStore::Fault::none;
  };
  client.answers = true;
  client.run = first.result_of(first.engine.create(someone(), client.spec, {})).value();
  testing::pass(disk, {&first, &second}, seconds(30));

  second.tasks.spawn("client", client.go(&second));
  second.run_until([this] { return client.done; });

  EXPECT_TRUE(client.done);
  EXPECT_EQ(last_type(client), "result");
}

}  // namespace
}  // namespace errand::engine::testing::recovery_test
