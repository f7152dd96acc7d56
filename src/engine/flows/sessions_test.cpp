// Sessions: who has the turn, what the model is told, and what survives.
#include "engine/flows/test_session.hpp"

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

// Kills the process at every step of three messages, the second while the first is answered.
TEST_F(SessionsTest, EveryMessageIsAnsweredOnceWheneverTheProcessDies) {
  constexpr std::string_view kScript = R"({"turns":[{"text":["First."],"delayMs":100},
      {"text":["Second."],"delayMs":100},{"text":["Third."]}]})";
  for (int at = 1;; ++at) {
    disk = Disk();
    {
      World world(disk, kScript);
      begin(world);
    }
    Crash crash{.at = at};
    bool has_crashed = false;
    std::set<std::string> sent;
    for (int life = 0; life < 2; ++life) {
      World world(disk, kScript, life == 0 ? crash : Crash());
      world.tasks.spawn("recover", world.engine.recover());
      world.settle();
      for (std::string text : {"One?", "Two?", "Three?"}) {
        if (world.crash.is_dead()) break;
        struct Sender {
          static Task<void> send(World* world, SessionId session, std::string text,
                                 std::set<std::string>* sent) {
            auto run = co_await world->engine.send(someone(), session, saying(text),
                                                   {.key = text, .fingerprint = text});
            if (run) sent->insert(text);
          }
        };
        world.tasks.spawn("send", Sender::send(&world, session, text, &sent));
        world.settle();
      }
      world.run_until([&] { return sent.size() == 3 && !world.engine.is_busy(); });
      has_crashed = has_crashed || world.crash.is_dead();
      if (life == 1) {
        world.pass(seconds(1));
        EXPECT_EQ(history(world),
                  (Lines{"user: One?", "assistant: First.", "user: Two?", "assistant: Second.",
                         "user: Three?", "assistant: Third."}))
            << "killed at step " << at;
      }
    }
    check();
    if (!has_crashed || HasFailure()) break;
  }
}

}  // namespace
}  // namespace errand::engine::testing
