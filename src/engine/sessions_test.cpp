// Sessions: who has the turn, what the model is told, and what survives.
#include "engine/test_session.hpp"

namespace errand::engine::testing {
namespace {

constexpr std::string_view kAnswers = R"({"turns":[{"text":["First."]},{"text":["Second."]},
    {"text":["Third."]},{"text":["Fourth."]}]})";

struct SessionsTest : SessionTest {};

TEST_F(SessionsTest, EachRunIsToldWhatWasSaidBefore) {
  World world(disk, kAnswers);
  std::vector<std::size_t> told;
  world.refuses = [&told](const llm::TurnRequest& request) {
    told.push_back(request.messages.size());
    return false;
  };
  begin(world);
  ASSERT_TRUE(send(world, "One?"));
  world.settle();
  ASSERT_TRUE(send(world, "Two?"));
  world.settle();
  EXPECT_EQ(told, (std::vector<std::size_t>{1, 3}));
  // The scripted model counts the answers that it was told of.
  EXPECT_EQ(history(world),
            (Lines{"user: One?", "assistant: First.", "user: Two?", "assistant: Second."}));
  check();
}

TEST_F(SessionsTest, MessagesWaitForTheirTurn) {
  World world(disk, R"({"turns":[{"text":["First."],"delayMs":1000},
      {"text":["Second."],"delayMs":1000},{"text":["Third."]}]})");
  begin(world);
  std::vector<RunId> runs = {*send(world, "One?"), *send(world, "Two?"), *send(world, "Three?")};
  EXPECT_EQ(statuses(world, runs), (Lines{"running", "queued", "queued"}));
  check();
  world.pass(milliseconds(1000));
  world.pass(milliseconds(100));  // the second says that it has started
  EXPECT_EQ(statuses(world, runs), (Lines{"succeeded", "running", "queued"}));
  world.pass(milliseconds(1100));
  EXPECT_EQ(statuses(world, runs), (Lines{"succeeded", "succeeded", "succeeded"}));
  EXPECT_EQ(history(world), (Lines{"user: One?", "assistant: First.", "user: Two?",
                                   "assistant: Second.", "user: Three?", "assistant: Third."}));
  check();
}

TEST_F(SessionsTest, BusySessionRejectsOrIsInterruptedIfAsked) {
  World world(disk, R"({"turns":[{"text":["First."],"delayMs":60000},{"text":["Second."]}]})");
  begin(world);
  RunId first = *send(world, "One?");
  SessionMessage rejected = saying("Two?");
  rejected.when_busy = WhenBusy::reject;
  EXPECT_EQ(send(world, rejected).error().reason(), "session_busy");
  SessionMessage urgent = saying("Stop!");
  urgent.when_busy = WhenBusy::interrupt;
  world.refuses = [](const llm::TurnRequest& request) { return request.messages.size() > 1; };
  RunId second = *send(world, urgent);
  world.pass(seconds(3));
  EXPECT_EQ(status(world, first), "cancelled");
  world.pass(seconds(61));
  EXPECT_EQ(status(world, second), "succeeded");
  EXPECT_EQ(history(world), (Lines{"user: Stop!", "assistant: First."}));
  check();
}

TEST_F(SessionsTest, AMessageWhoseOutcomeWasLostStillWaitsForItsTurn) {
  World world(disk, R"({"turns":[{"text":["First."],"delayMs":1000},{"text":["Second."]}]})");
  begin(world);
  RunId first = *send(world, "One?");
  world.fault = [](FaultyStore::Operation op) {
    return op.kind == FaultyStore::Kind::create ? FaultyStore::Fault::fail_after
                                                : FaultyStore::Fault::none;
  };
  RunId second = *send(world, "Two?");
  world.fault = nullptr;
  EXPECT_EQ(statuses(world, {first, second}), (Lines{"running", "queued"}));
  world.pass(milliseconds(1100));
  EXPECT_EQ(statuses(world, {first, second}), (Lines{"succeeded", "succeeded"}));
  EXPECT_EQ(history(world),
            (Lines{"user: One?", "assistant: First.", "user: Two?", "assistant: Second."}));
  check();
}

TEST_F(SessionsTest, AMessageWhoseOutcomeWasLostGoesOnIfItHasTheTurn) {
  World world(disk, R"({"turns":[{"text":["First."]}]})");
  begin(world);
  world.fault = [](FaultyStore::Operation op) {
    return op.kind == FaultyStore::Kind::create ? FaultyStore::Fault::fail_after
                                                : FaultyStore::Fault::none;
  };
  RunId run = *send(world, "One?");
  world.fault = nullptr;
  world.settle();
  EXPECT_EQ(status(world, run), "succeeded");
  EXPECT_EQ(history(world), (Lines{"user: One?", "assistant: First."}));
  check();
}

TEST_F(SessionsTest, AnInterruptWhoseOutcomeWasLostStopsTheRunThatHasTheTurn) {
  World world(disk, R"({"turns":[{"text":["First."],"delayMs":60000},{"text":["Second."]}]})");
  begin(world);
  RunId first = *send(world, "One?");
  SessionMessage urgent = saying("Stop!");
  urgent.when_busy = WhenBusy::interrupt;
  world.fault = [](FaultyStore::Operation op) {
    return op.kind == FaultyStore::Kind::create ? FaultyStore::Fault::fail_after
                                                : FaultyStore::Fault::none;
  };
  RunId second = *send(world, urgent);
  world.fault = nullptr;
  world.pass(seconds(3));
  EXPECT_EQ(status(world, first), "cancelled");
  world.pass(seconds(61));
  EXPECT_EQ(status(world, second), "succeeded");
  check();
}

TEST_F(SessionsTest, FailedRunsAddNothing) {
  World world(disk, R"({"turns":[{"error":{"status":400,"code":"no","message":"no"}}]})");
  begin(world);
  RunId run = *send(world, "One?");
  world.settle();
  EXPECT_EQ(status(world, run), "failed");
  EXPECT_EQ(history(world), Lines());
  check();
}

TEST_F(SessionsTest, WaitingRunCanBeCancelled) {
  World world(disk, R"({"turns":[{"text":["First."],"delayMs":1000},{"text":["Second."]}]})");
  begin(world);
  RunId first = *send(world, "One?");
  RunId second = *send(world, "Two?");
  RunId third = *send(world, "Three?");
  EXPECT_TRUE(world.result_of(world.engine.cancel(someone(), second)));
  world.pass(milliseconds(100));
  EXPECT_EQ(statuses(world, {first, second, third}), (Lines{"running", "cancelled", "queued"}));
  world.pass(seconds(2));
  EXPECT_EQ(history(world),
            (Lines{"user: One?", "assistant: First.", "user: Three?", "assistant: Second."}));
  check();
}

TEST_F(SessionsTest, EndCancelsWhatIsNotOver) {
  World world(disk, R"({"turns":[{"text":["First."],"delayMs":60000}]})");
  begin(world);
  std::vector<RunId> runs = {*send(world, "One?"), *send(world, "Two?")};
  EXPECT_EQ(*world.result_of(world.engine.end_session(someone(), session)), true);
  EXPECT_EQ(*world.result_of(world.engine.end_session(someone(), session)), false);
  EXPECT_EQ(send(world, "Three?").error().reason(), "session_ended");
  world.pass(seconds(3));
  EXPECT_EQ(statuses(world, runs), (Lines{"cancelled", "cancelled"}));
  check();
}

TEST_F(SessionsTest, OverridesOfAMessageDoNotStick) {
  World world(disk, kAnswers);
  std::vector<std::size_t> tools;
  world.refuses = [&tools](const llm::TurnRequest& request) {
    tools.push_back(request.tools->size());
    return false;
  };
  begin(world, spec_with_tools({client_tool("look")}));
  SessionMessage bare = saying("One?");
  bare.overrides.tools = share_tools({});
  bare.overrides.metadata = Metadata{{"a", "2"}};
  RunId run = *send(world, bare);
  world.settle();
  ASSERT_TRUE(send(world, "Two?"));
  world.settle();
  EXPECT_EQ(tools, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(world.result_of(world.engine.get(someone(), run))->row.metadata, R"({"a":"2"})");
  check();
}

TEST_F(SessionsTest, FullQueueIsToldToTheSender) {
  World world(disk, R"({"turns":[{"text":["First."],"delayMs":60000}]})");
  begin(world);
  for (int i = 0; i <= 100; ++i) ASSERT_TRUE(send(world, "More?"));
  auto refused = send(world, "One more?");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason(), "session_queue_full");
  EXPECT_EQ(refused.error().code(), ErrorCode::rate_limited);
}

TEST_F(SessionsTest, OtherWorkspacesSeeNothing) {
  World world(disk, kAnswers);
  begin(world);
  Principal stranger{.workspace = *WorkspaceSlug::parse("other"), .key = *KeyId::parse("key_2")};
  EXPECT_EQ(world.result_of(world.engine.get_session(stranger, session)).error().code(),
            ErrorCode::not_found);
  EXPECT_EQ(world.result_of(world.engine.send(stranger, session, saying("Hi"), {})).error().code(),
            ErrorCode::not_found);
  EXPECT_EQ(world.result_of(world.engine.end_session(stranger, session)).error().code(),
            ErrorCode::not_found);
}

// A process that dies at any step, and the next one that goes on with its session.
struct DyingTest : SessionsTest {
  using Sent = std::set<std::string>;

  static Task<void> send_once(World* world, SessionId session, SessionMessage message, Sent* sent) {
    std::string text = *message.said.prompt;
    auto run = co_await world->engine.send(someone(), session, std::move(message),
                                           {.key = text, .fingerprint = text});
    if (run) sent->insert(text);
  }

  // Sends every message, each while those before it are answered. True: the process died.
  bool live(World& world, const std::vector<SessionMessage>& messages) {
    Sent sent;
    world.tasks.spawn("recover", world.engine.recover());
    world.settle();
    for (const SessionMessage& message : messages) {
      if (world.crash.is_dead()) break;
      world.tasks.spawn("send", send_once(&world, session, message, &sent));
      world.settle();
    }
    world.run_until([&] { return sent.size() == messages.size() && !world.engine.is_busy(); });
    return world.crash.is_dead();
  }

  // Kills the process at every step, one after the other, and compares the history at the end.
  void die_at_every_step(std::string_view script, const std::vector<SessionMessage>& messages,
                         const Lines& wanted) {
    bool has_died = true;
    for (int at = 1; has_died && !HasFailure(); ++at) {
      disk = Disk();
      {
        World world(disk, script);
        begin(world);
      }
      {
        World first(disk, script, {.at = at});
        has_died = live(first, messages);
      }
      World next(disk, script);
      live(next, messages);
      next.pass(seconds(1));
      EXPECT_EQ(history(next), wanted) << "killed at step " << at;
      check();
    }
  }
};

TEST_F(DyingTest, EveryMessageIsAnsweredOnce) {
  die_at_every_step(R"({"turns":[{"text":["First."],"delayMs":100},
      {"text":["Second."],"delayMs":100},{"text":["Third."]}]})",
                    {saying("One?"), saying("Two?"), saying("Three?")},
                    {"user: One?", "assistant: First.", "user: Two?", "assistant: Second.",
                     "user: Three?", "assistant: Third."});
}

// The run that is interrupted would take an hour. The message that waits behind it is answered.
TEST_F(DyingTest, AnInterruptStopsTheRunInFlightAndLosesNoMessage) {
  SessionMessage urgent = saying("Stop!");
  urgent.when_busy = WhenBusy::interrupt;
  die_at_every_step(R"({"turns":[{"text":["First."],"delayMs":3600000},
      {"text":["Second."]},{"text":["Third."]}]})",
                    {saying("One?"), saying("Two?"), urgent}, {});
}

}  // namespace
}  // namespace errand::engine::testing
