// What the server of a call asks in the middle of the call: the client, or the run's model.
#include <algorithm>

#include "engine/flows/test_run.hpp"
#include "json/members.hpp"
#include "run/question_id.hpp"

namespace errand::engine::testing::questions_test {
namespace {

constexpr std::string_view kAsks =
    R"({"turns":[{"text":["I ask"],"toolCalls":[{"name":"asking"}],
        "usage":{"inputTokens":10,"outputTokens":3}},
       {"text":["ok"],"usage":{"inputTokens":100,"outputTokens":30}}]})";

struct QuestionsTest : RunTest {
  QuestionsTest() { client.spec = spec_with_tools({HostTool{"asking"}}); }

  std::vector<std::string> lines_with(std::string_view part) const {
    std::vector<std::string> lines;
    for (const std::string& line : client.seen) {
      if (line.find(part) != std::string::npos) lines.push_back(line);
    }
    return lines;
  }
  std::size_t count(std::string_view part) const { return lines_with(part).size(); }
  // Leaves on the disk the run alone, as a program of this format has created it.
  void rewrite_as_of_format(const RunId& run, int format) {
    StoredRun made = stored_run(disk, run);
    NewRun older{.row = made.row, .first = *made.segments.front()};
    older.row.format = format;
    const std::string own = cat("\"format\":", kRunFormat);
    older.first.journal.replace(older.first.journal.find(own), own.size(),
                                cat("\"format\":", format));
    disk.data = make_memory_store_data();
    read_disk<CreateOutcome>(disk, [&](Store* store) { return store->create(older); });
  }
  // Waits until the client has been asked.
  void ask(World& world) {
    world.tasks.spawn("client", client.go(&world));
    world.run_until([&] { return !client.pending.empty(); });
    ASSERT_EQ(client.pending.size(), 1U);
    EXPECT_TRUE(asking_call(*client.pending.begin()));
    EXPECT_EQ(findings_of(disk), std::vector<std::string>());
  }
};

TEST_F(QuestionsTest, QuestionIsPendingLikeACallAndItsAnswerReachesTheCall) {
  World world(disk, kAsks);
  run(world);
  EXPECT_EQ(types_of(client.seen), (Types{"assistant_delta", "tool_call", "assistant_message",
                                          "local_tool_call", "local_tool_result_in", "tool_result",
                                          "assistant_delta", "assistant_message", "result"}));
  EXPECT_EQ(count(R"("type":"local_tool_call")"), 1U);
  EXPECT_EQ(count(R"("name":"who","args":{"q":"who?"},"kind":"local")"), 1U);
  EXPECT_EQ(count("yes: answer to "), 1U);
  EXPECT_EQ(client.acknowledged.size(), 1U);
}

TEST_F(QuestionsTest, ModelAnswersAndTheRunPaysForIt) {
  World world(disk, kAsks);
  run(world);
  EXPECT_EQ(count("; I ask"), 1U);
  ASSERT_EQ(world.asked_about, (std::vector<std::string>{"go", "and you?", "go"}));
  // The first turn is told twice, once to the server.
  EXPECT_NE(client.seen.back().find(R"("inputTokens":120)"), std::string::npos)
      << client.seen.back();
}

TEST_F(QuestionsTest, QuestionsDoNotRepeatTheSecretsOfTheCall) {
  World world(disk, kAsks);
  struct Gossip final : Tool {
    const ToolDecl& decl() const override { return about; }
    Task<ToolOutcome> invoke(ToolCall, ToolContext context) override {
      context.secrets->remember("canary-1");
      [[maybe_unused]] auto said = co_await PendingAnswer<ToolAnswer>::wait(
          context.questions->ask_client({.name = "who", .args = {{"q", "canary-1?"}}}));
      ModelQuestion question{.messages = {{.text = "canary-1?"}}};
      [[maybe_unused]] auto meant = co_await PendingAnswer<ModelAnswer>::wait(
          context.questions->ask_model(std::move(question)));
      co_return text_outcome("done");
    }
    ToolDecl about{.name = "asking", .site = ToolSite::host};
  };
  world.tools.tools["asking"] = std::make_shared<Gossip>();
  run(world);
  EXPECT_EQ(count(R"("args":{"q":"[redacted]?"})"), 1U);
  EXPECT_EQ(world.asked_about, (std::vector<std::string>{"go", "[redacted]?", "go"}));
  EXPECT_EQ(count("canary-1"), 0U);
}

TEST_F(QuestionsTest, ModelDoesNotAnswerARunThatHasNoTurnsLeft) {
  World world(disk, kAsks);
  client.spec.budgets.max_tool_turns = 1;
  run(world);
  EXPECT_EQ(count("the run has no tool turns left"), 1U);
  EXPECT_EQ(world.asked, 2);
}

TEST_F(QuestionsTest, AnswersOfTheModelCountAsToolTurns) {
  World world(disk, R"({"turns":[{"text":["I ask"],"toolCalls":[{"name":"asking"}]},
                                 {"toolCalls":[{"name":"asking"}]},{"text":["ok"]}]})");
  client.spec.budgets.max_tool_turns = 2;
  run(world);
  EXPECT_NE(client.seen.back().find("error_max_tool_turns"), std::string::npos)
      << client.seen.back();
}

TEST_F(QuestionsTest, UnansweredQuestionTimesOutAndTheTimeOfTheCallStandsStill) {
  World world(disk, kAsks);
  client.answers = false;
  const SteadyTime begun = world.timers.now();
  run(world);
  EXPECT_GE(world.timers.now() - begun, seconds(300));
  EXPECT_EQ(count("took longer than"), 0U);
  EXPECT_EQ(count("no: Timed out waiting for local tool result"), 1U);
  EXPECT_EQ(types_of(client.seen).back(), "result");
}

TEST_F(QuestionsTest, CallThatWaitsForTheClientHasNoMoreTimeAfterwardsThanItHadLeft) {
  World world(disk, kAsks);
  bool is_asked = false;
  struct Lingering final : Tool {
    explicit Lingering(World& of, bool& asked) : world(of), is_asked(asked) {}
    const ToolDecl& decl() const override { return about; }
    Task<ToolOutcome> invoke(ToolCall, ToolContext context) override {
      co_await world.timers.sleep_until(world.timers.now() + seconds(100));
      is_asked = true;
      [[maybe_unused]] auto said = co_await PendingAnswer<ToolAnswer>::wait(
          context.questions->ask_client({.name = "who", .args = {}}));
      co_await world.timers.sleep_until(SteadyTime::max());
      co_return text_outcome("never");
    }
    World& world;
    bool& is_asked;
    ToolDecl about{.name = "asking", .site = ToolSite::host};
  };
  world.tools.tools["asking"] = std::make_shared<Lingering>(world, is_asked);
  client.answers = false;
  const SteadyTime begun = world.timers.now();
  run(world);
  EXPECT_TRUE(is_asked);
  EXPECT_EQ(count("took longer than 120 s and was cut off"), 1U);
  EXPECT_EQ(world.timers.now() - begun, seconds(300) + kHostToolTimeout);
}

TEST_F(QuestionsTest, CancelledRunTakesItsQuestionBack) {
  World world(disk, kAsks);
  client.answers = false;
  ask(world);
  ASSERT_TRUE(world.result_of(world.engine.cancel(someone(), *client.run)));
  world.run_until([&] { return client.done; });
  EXPECT_EQ(types_of(client.seen).back(), "cancelled");
  EXPECT_EQ(count("The call that asked this is over."), 1U);
  EXPECT_EQ(findings_of(disk), std::vector<std::string>());
}

TEST_F(QuestionsTest, CallThatIsMadeAgainOffersItsQuestionAgainUnderTheSameId) {
  client.answers = false;
  {
    World world(disk, kAsks);
    ask(world);
  }
  client.answers = true;
  client.pending.clear();  // it was forgotten
  World world(disk, kAsks);
  world.engine.start();
  run(world);
  EXPECT_EQ(count(R"("type":"local_tool_call")"), 2U);
  EXPECT_EQ(client.acknowledged.size(), 1U);
  EXPECT_EQ(count("yes: answer to "), 1U);
}

TEST_F(QuestionsTest, CallThatIsMadeAgainIsToldTheAnswerThatCameBefore) {
  client.answers = false;
  {
    World world(disk, kAsks);
    ask(world);
    world.crash.at = world.crash.step + 3;  // after the answer is written and before it is used
    CallAnswer answer{.tool_use_id = *client.pending.begin(), .answer = {.text = "me"}};
    EXPECT_TRUE(world.result_of(world.engine.answer(someone(), *client.run, answer)));
    EXPECT_TRUE(world.crash.is_dead());
  }
  World world(disk, kAsks);
  world.engine.start();
  run(world);
  EXPECT_EQ(count(R"("type":"local_tool_call")"), 1U);
  EXPECT_EQ(count(R"("type":"local_tool_result_in")"), 1U);
  EXPECT_EQ(count("yes: me"), 1U);
}

TEST_F(QuestionsTest, QuestionOfACallThatIsNotMadeAgainIsTakenBack) {
  client.spec = spec_with_tools({HostTool{"careless_asking"}});
  client.answers = false;
  constexpr std::string_view kCareless =
      R"({"turns":[{"toolCalls":[{"name":"careless_asking"}]},{"text":["ok"]}]})";
  {
    World world(disk, kCareless);
    ask(world);
  }
  World world(disk, kCareless);
  world.engine.start();
  run(world);
  EXPECT_EQ(count("The call that asked this is over."), 1U);
  EXPECT_EQ(count("A restart cut this call off."), 1U);
}

TEST_F(QuestionsTest, RunOfAnOlderFormatIsGivenNoEntriesOfQuestions) {
  {
    World world(disk, kAsks, {}, {.slots = {.in_all = 0}});
    client.run = world.result_of(world.engine.create(someone(), client.spec, {})).value();
  }
  rewrite_as_of_format(*client.run, 2);
  World world(disk, kAsks);
  world.engine.start();
  run(world);
  EXPECT_EQ(count("nobody to ask"), 1U);
  EXPECT_EQ(types_of(client.seen).back(), "result");
  for (const SegmentPtr& segment : stored_run(disk, *client.run).segments) {
    EXPECT_EQ(segment->journal.find(R"("entry":"answer")"), std::string::npos);
    EXPECT_EQ(segment->journal.find(R"("entry":"sampled")"), std::string::npos);
  }
}

TEST_F(QuestionsTest, RunThatWaitsForAnAnswerGivesItsSlotAway) {
  World world(disk, kAsks, {}, {.slots = {.in_all = 1}});
  client.answers = false;
  ask(world);
  Spec other = spec_with_tools({});
  other.model_id = "child";
  auto made = world.result_of(world.engine.create(someone(), other, {}));
  ASSERT_TRUE(made);
  world.settle();
  EXPECT_EQ(stored_run(disk, *made).row.status, RunStatus::succeeded);
}

TEST_F(QuestionsTest, CallThatAsksTooOftenOrTooMuchIsToldSo) {
  World world(disk, kAsks);
  struct Pestering final : Tool {
    const ToolDecl& decl() const override { return about; }
    Task<ToolOutcome> invoke(ToolCall, ToolContext context) override {
      ClientQuestion large{.name = "who",
                           .args = {{"q", std::string(kClientQuestionBytesMax, 'x')}}};
      auto refused =
          co_await PendingAnswer<ToolAnswer>::wait(context.questions->ask_client(std::move(large)));
      std::string said = refused ? "" : refused.error().message();
      for (int i = 0;; ++i) {
        auto answer = co_await PendingAnswer<ToolAnswer>::wait(
            context.questions->ask_client({.name = "who", .args = {}}));
        if (!answer) co_return text_outcome(cat(said, "; ", i, "; ", answer.error().message()));
      }
    }
    ToolDecl about{.name = "asking", .site = ToolSite::host};
  };
  world.tools.tools["asking"] = std::make_shared<Pestering>();
  run(world);
  EXPECT_EQ(
      count(cat("the question is too long; ", kClientQuestionsMax, "; the call asks too often")),
      1U);
}

}  // namespace
}  // namespace errand::engine::testing::questions_test
