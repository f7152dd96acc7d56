// Sessions: who has the turn, what the model is told, and what survives.
#include "engine/flows/test_session.hpp"

namespace errand::engine::testing::sessions_test {
namespace {

constexpr std::string_view kAnswers = R"({"turns":[{"text":["First."]},{"text":["Second."]},
    {"text":["Third."]},{"text":["Fourth."]}]})";

struct SessionsTest : SessionTest {
  // A session of the stored agent "support", with what else the spec has.
  void begin_with_agent(World& world, std::string_view agent, Spec spec) {
    ASSERT_TRUE(world.result_of(
        world.records.agents.create(someone().workspace, "support", std::string(agent), {})));
    spec.agent_id = "support";
    begin(world, std::move(spec));
  }
};

// What a model was told of in its last turn: the prompt, and the tools by name.
struct Told {
  std::string prompt;
  std::vector<std::string> tools;

  void listen(World& world) {
    world.refuses = [this](const llm::TurnRequest& request) {
      prompt = *request.system_prompt;
      tools.clear();
      for (const ToolDecl& tool : *request.tools) tools.push_back(tool.name);
      return false;
    };
  }
};

constexpr std::string_view kAgent = R"({"systemPrompt":"Be kind.","tools":[
    {"kind":"local","name":"look","parameters":{"type":"object"}},
    {"kind":"local","name":"stored","parameters":{"type":"object"}}]})";

// A room with one tool.
struct OneToolRoom final : RemoteToolSource {
  Task<Result<std::vector<ToolDecl>>> ask(ToolRef, Principal) override {
    co_return std::vector<ToolDecl>{{.name = "room_tool", .description = "Far away."}};
  }
  ToolPtr open(const ToolDecl&, const ToolRef&, const Principal&) override { return nullptr; }
};

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

TEST_F(SessionsTest, AMessageToASessionInUseReadsNothing) {
  World world(disk, kAnswers);
  begin(world);
  ASSERT_TRUE(send(world, "One?"));
  world.settle();
  int reads = 0;
  world.fault = [&reads](FaultyStore::Operation op) {
    if (op.kind == FaultyStore::Kind::read) ++reads;
    return FaultyStore::Fault::none;
  };
  ASSERT_TRUE(send(world, "Two?"));
  world.settle();
  EXPECT_EQ(reads, 0);
  EXPECT_EQ(history(world),
            (Lines{"user: One?", "assistant: First.", "user: Two?", "assistant: Second."}));
  check();
}

TEST_F(SessionsTest, ASessionInUseThatEndsOrGoesTakesNoMessage) {
  World world(disk, kAnswers);
  begin(world);
  const RunId run = *send(world, "One?");
  world.settle();
  ASSERT_TRUE(world.result_of(world.engine.end_session(someone(), session)));
  EXPECT_EQ(send(world, "Two?").error().reason(), "session_ended");
  ASSERT_TRUE(world.result_of(world.engine.remove_session(someone(), session)));
  EXPECT_EQ(send(world, "Three?").error().code(), ErrorCode::not_found);
  EXPECT_EQ(world.result_of(world.engine.get(someone(), run)).error().code(), ErrorCode::not_found);
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

TEST_F(SessionsTest, AMessageThatTheHistoryLeavesNoRoomForEndsItsRunAndAddsNothing) {
  World world(disk,
              cat(R"({"turns":[{"text":[")", std::string(600, 'a'), R"("],"delayMs":1000}]})"), {},
              {.conversation_bytes_max = 1000});
  begin(world);
  std::vector<RunId> runs = {*send(world, "One?"), *send(world, std::string(500, 'b'))};
  world.pass(milliseconds(1100));
  EXPECT_EQ(statuses(world, runs), (Lines{"succeeded", "failed"}));
  auto ended = world.result_of(world.engine.get(someone(), runs[1]));
  EXPECT_EQ(ended->state->terminal()->subtype, "error_max_conversation_bytes");
  EXPECT_EQ(history(world).size(), 2U);
  auto refused = send(world, std::string(500, 'b'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().limit(), "conversationBytes");
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

TEST_F(SessionsTest, ToolsOfAMessageAreAddedToThoseOfTheAgent) {
  World world(disk, kAnswers);
  Told told;
  told.listen(world);
  begin_with_agent(world, kAgent, spec_with_tools({client_tool("own")}));
  ASSERT_TRUE(send(world, "One?"));
  world.settle();
  EXPECT_EQ(told.tools, (Lines{"look", "stored", "own"}));
  SessionMessage message = saying("Two?");
  message.overrides.tools = share_tools({client_tool("other"), client_tool("look")});
  ASSERT_TRUE(send(world, message));
  world.settle();
  EXPECT_EQ(told.tools, (Lines{"stored", "other", "look"}));
  message.overrides.tools = share_tools({});
  ASSERT_TRUE(send(world, message));
  world.settle();
  EXPECT_EQ(told.tools, (Lines{"look", "stored"}));
  check();
}

TEST_F(SessionsTest, ToolsOfAMessageAreAddedToThoseOfTheRoom) {
  World world(disk, kAnswers);
  OneToolRoom room;
  world.sources.add_remote("room", {"room"}, room);
  Told told;
  told.listen(world);
  Spec spec = spec_with_tools({client_tool("own")});
  spec.room = RoomPlace{.name = "lab"};
  begin(world, spec);
  SessionMessage message = saying("One?");
  message.overrides.tools = share_tools({client_tool("lab")});
  ASSERT_TRUE(send(world, message));
  world.settle();
  EXPECT_EQ(told.tools, (Lines{"lab", "room_tool"}));
  check();
}

TEST_F(SessionsTest, PromptOfAMessageReplacesTheSessionsButNotTheAgents) {
  World world(disk, kAnswers);
  Told told;
  told.listen(world);
  SessionMessage message = saying("One?");
  message.overrides.system_prompt = "Be rude.";
  begin_with_agent(world, kAgent, spec_with_tools({}));
  ASSERT_TRUE(send(world, message));
  world.settle();
  EXPECT_EQ(told.prompt, "Be kind.");
  Spec spec = spec_with_tools({});
  spec.system_prompt = "Be brief.";
  begin(world, spec);
  ASSERT_TRUE(send(world, message));
  world.settle();
  EXPECT_EQ(told.prompt, "Be rude.");
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

// Sends what may have been sent before, under a key, and says so once the store has it.
Task<void> send_once(World* world, SessionId session, SessionMessage message,
                     std::set<std::string>* sent) {
  const std::string text = *message.said.prompt;
  auto run = co_await world->engine.send(someone(), session, std::move(message),
                                         {.key = text, .fingerprint = text});
  if (run) sent->insert(text);
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
        world.tasks.spawn("send", send_once(&world, session, saying(text), &sent));
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

// Kills the process at every step while a message interrupts the run that has the turn, with
// another one in the queue.
TEST_F(SessionsTest, InterruptTakesEffectOnceWheneverTheProcessDies) {
  constexpr std::string_view kScript = R"({"turns":[{"text":["First."],"delayMs":60000},
      {"text":["Second."],"delayMs":100},{"text":["Third."]}]})";
  SessionMessage urgent = saying("Stop!");
  urgent.when_busy = WhenBusy::interrupt;
  for (int at = 1;; ++at) {
    disk = Disk();
    std::vector<RunId> runs;
    {
      World world(disk, kScript);
      begin(world);
      runs = {*send(world, "One?"), *send(world, "Two?")};
    }
    bool has_crashed = false;
    std::set<std::string> sent;
    for (int life = 0; life < 2; ++life) {
      World world(disk, kScript, life == 0 ? Crash{.at = at} : Crash());
      world.tasks.spawn("recover", world.engine.recover());
      world.settle();
      world.tasks.spawn("send", send_once(&world, session, urgent, &sent));
      world.settle();
      world.run_until([&] { return sent.size() == 1 && !world.engine.is_busy(); });
      has_crashed = has_crashed || world.crash.is_dead();
      if (life == 0) continue;
      world.pass(seconds(1));
      EXPECT_EQ(statuses(world, runs), (Lines{"cancelled", "succeeded"})) << "step " << at;
      EXPECT_EQ(history(world),
                (Lines{"user: Stop!", "assistant: First.", "user: Two?", "assistant: Second."}))
          << "killed at step " << at;
    }
    check();
    if (!has_crashed || HasFailure()) break;
  }
}

Task<void> end_for_good(World* world, SessionId session, bool* is_ended) {
  auto ended = co_await world->engine.end_session(someone(), session);
  *is_ended = *is_ended || ended.has_value();
}

// Kills the process at every step while a session ends with one run under way and one in the queue.
TEST_F(SessionsTest, EndCancelsEveryRunWheneverTheProcessDies) {
  constexpr std::string_view kScript = R"({"turns":[{"text":["First."],"delayMs":60000}]})";
  for (int at = 1;; ++at) {
    disk = Disk();
    std::vector<RunId> runs;
    {
      World world(disk, kScript);
      begin(world);
      runs = {*send(world, "One?"), *send(world, "Two?")};
    }
    bool has_crashed = false;
    bool is_ended = false;
    for (int life = 0; life < 2; ++life) {
      World world(disk, kScript, life == 0 ? Crash{.at = at} : Crash());
      world.tasks.spawn("recover", world.engine.recover());
      world.settle();
      world.tasks.spawn("end", end_for_good(&world, session, &is_ended));
      world.settle();
      world.run_until([&] { return is_ended && !world.engine.is_busy(); });
      world.pass(seconds(1));
      world.settle();
      has_crashed = has_crashed || world.crash.is_dead();
      if (life == 0) continue;
      EXPECT_EQ(statuses(world, runs), (Lines{"cancelled", "cancelled"})) << "step " << at;
      EXPECT_EQ(send(world, "Three?").error().reason(), "session_ended") << "step " << at;
      EXPECT_EQ(history(world), Lines());
    }
    check();
    if (!has_crashed || HasFailure()) break;
  }
}

}  // namespace
}  // namespace errand::engine::testing::sessions_test
