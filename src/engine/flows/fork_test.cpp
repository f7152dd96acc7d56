#include <gtest/gtest.h>

#include "engine/flows/test_world.hpp"
#include "engine/residency/whole_log.hpp"
#include "json/write.hpp"

namespace errand::engine::testing::fork_test {
namespace {

// Two turns with calls and an answer. Its log: 1 delta, 2 tool_call, 3 local_tool_call, 4 message,
// 5 and 6 results, 7 local_tool_call, 8 message, 9 result, 10 delta, 11 message, 12 end.
constexpr std::string_view kTools = R"({"turns":[
  {"text":["a"],"toolCalls":[{"name":"idempotent"},{"name":"look"}],"usage":{"inputTokens":5}},
  {"toolCalls":[{"name":"look"}],"usage":{"inputTokens":6}},
  {"text":["answer"],"usage":{"inputTokens":7}},
  {"text":["more"],"usage":{"inputTokens":8}}]})";

// A message as a line: who says what, and which results it brings.
std::string shown(const Message& message) {
  std::string line = cat(to_string(message.role), ": ", message.text);
  for (const ToolCallPart& call : message.calls) append(line, " [", call.name, "]");
  for (const ToolResultPart& result : message.results) {
    append(line, " (", result.name,
           result.ok ? " = " : " failed: ", result.text.substr(0, result.text.find(" to ")), ")");
  }
  return line;
}

using Lines = std::vector<std::string>;

struct ForkTest : ::testing::Test {
  Disk disk;
  Client original{.spec = spec_with_tools({client_tool("look"), HostTool{"idempotent"}})};
  std::vector<Lines> requests;  // the messages of every question to the model

  // Lets the original run to its end, or as far as it comes.
  void run_original(std::string_view script, std::optional<AnsweredBy> by = {}) {
    World world(disk, script);
    world.answered_by = std::move(by);
    world.tasks.spawn("client", original.go(&world));
    world.run_until([&] { return original.done || world.engine.count(Place::resting) > 0; });
    ASSERT_TRUE(original.run);
  }

  struct Forker {
    static Task<void> fork(World* world, RunId run, ForkParams params, Idempotency idempotency,
                           std::optional<Result<ForkedRun>>* out) {
      auto forked =
          co_await world->engine.fork(someone(), run, std::move(params), std::move(idempotency));
      out->emplace(std::move(forked));
    }
  };

  void watch(World& world) {
    world.refuses = [this](const llm::TurnRequest& request) {
      Lines lines;
      for (const llm::MessagePtr& message : request.messages) lines.push_back(shown(*message));
      requests.push_back(std::move(lines));
      return false;
    };
  }

  Result<ForkedRun> fork(World& world, const RunId& run, ForkParams params,
                         Idempotency idempotency = {}) {
    std::optional<Result<ForkedRun>> forked;
    world.tasks.spawn("fork", Forker::fork(&world, run, std::move(params), idempotency, &forked));
    world.settle();
    EXPECT_TRUE(forked);
    return std::move(*forked);
  }

  // Forks the original and follows the fork to its end.
  Client fork_and_run(std::string_view script, ForkParams params) {
    World world(disk, script);
    watch(world);
    auto forked = fork(world, *original.run, std::move(params));
    EXPECT_TRUE(forked) << forked.error().describe();
    last_from = forked->from;
    Client client{.run = forked->run};
    world.tasks.spawn("client", client.go(&world));
    world.run_until([&] { return client.done; });
    EXPECT_TRUE(client.done);
    EXPECT_EQ(world.bugs, Lines());
    EXPECT_EQ(findings_of(disk), Lines());
    EXPECT_EQ(client.seen, log_of(disk, forked->run));
    return client;
  }

  // The model that gave each answer in a run's journal: its id, or "own".
  Lines answerers(const RunId& run) {
    Lines models;
    auto journal = parse_journal(journal_of(stored_run(disk, run).segments));
    EXPECT_TRUE(journal);
    for (const JournalEntry& entry : *journal) {
      auto* end = std::get_if<TurnEndEntry>(&entry);
      if (end) models.push_back(end->answered_by ? end->answered_by->model.id : "own");
    }
    return models;
  }

  static Lines types_of(const Client& client) {
    Lines types;
    for (const std::string& line : client.seen) types.emplace_back(type_of_line(line));
    return types;
  }

  ForkedFrom last_from;
};

ForkParams from_seq(EventSeq seq) {
  return {.from_seq = seq};
}

ForkParams with_prompt(std::string prompt) {
  return {.overrides = {.prompt = std::move(prompt)}};
}

TEST_F(ForkTest, RecordedResultsAreUsedAndNothingIsDoneAgain) {
  run_original(kTools);
  Client fork = fork_and_run(kTools, from_seq(9));
  EXPECT_EQ(last_from, (ForkedFrom{.run = *original.run, .seq = 9, .turns = 2}));
  EXPECT_EQ(requests, (std::vector<Lines>{{"user: go", "assistant: a [idempotent] [look]",
                                           "user:  (idempotent = counted) (look = answer)",
                                           "assistant:  [look]", "user:  (look = answer)"}}));
  EXPECT_EQ(disk.idempotent.begun, 1);
  EXPECT_EQ(types_of(fork), (Lines{"assistant_delta", "assistant_message", "result"}));
}

TEST_F(ForkTest, PointIsRoundedDownToAFinishedTurn) {
  run_original(kTools);
  for (auto [seq, turns, at] : {std::tuple(5, 0, 0), std::tuple(6, 1, 6), std::tuple(8, 1, 6),
                                std::tuple(9, 2, 9), std::tuple(10, 2, 9)}) {
    World world(disk, kTools);
    auto forked = fork(world, *original.run, from_seq(seq));
    ASSERT_TRUE(forked);
    EXPECT_EQ(forked->from, (ForkedFrom{.run = *original.run, .seq = at, .turns = turns})) << seq;
  }
}

TEST_F(ForkTest, OnlyWhatTheForkSpentIsCounted) {
  run_original(kTools);
  Client fork = fork_and_run(kTools, from_seq(9));
  EXPECT_NE(original.seen.back().find(R"("inputTokens":18)"), std::string::npos);
  EXPECT_NE(fork.seen.back().find(R"("inputTokens":7)"), std::string::npos);
  EXPECT_NE(fork.seen.back().find(R"("turns":1,)"), std::string::npos);
}

TEST_F(ForkTest, TurnThatIsTakenOverDoesNotNameTheModelThatAnsweredTheOriginal) {
  run_original(kTools, AnsweredBy{.model = {.id = "fallback", .provider = "p"}});
  EXPECT_EQ(answerers(*original.run), (Lines{"fallback", "fallback", "fallback"}));
  Client fork = fork_and_run(kTools, from_seq(9));
  EXPECT_EQ(answerers(*fork.run), (Lines{"own", "own", "own"}));
}

TEST_F(ForkTest, AnswerIsGivenAnewWhenNothingElseIsSaid) {
  run_original(kTools);
  fork_and_run(kTools, {});
  EXPECT_EQ(last_from, (ForkedFrom{.run = *original.run, .seq = 9, .turns = 2}));
  EXPECT_EQ(requests.back().size(), 5U);
}

TEST_F(ForkTest, PromptIsSaidAfterTheAnswer) {
  run_original(kTools);
  Client fork = fork_and_run(kTools, with_prompt("and then?"));
  EXPECT_EQ(last_from.turns, 3);
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0][5], "assistant: answer");
  EXPECT_EQ(requests[0][6], "user: and then?");
  EXPECT_NE(fork.seen.back().find(R"("text":"more")"), std::string::npos);
  EXPECT_NE(fork.seen[1].find(R"("turn":3)"), std::string::npos);
}

TEST_F(ForkTest, PromptIsSaidAfterTheResultsOfATurn) {
  run_original(kTools);
  ForkParams params = with_prompt("be quick");
  params.from_seq = 6;
  fork_and_run(kTools, params);
  ASSERT_FALSE(requests.empty());
  EXPECT_EQ(requests[0],
            (Lines{"user: go", "assistant: a [idempotent] [look]",
                   "user:  (idempotent = counted) (look = answer)", "user: be quick"}));
}

TEST_F(ForkTest, RunIsBegunAnewBeforeItsFirstTurnIsFinished) {
  run_original(kTools);
  fork_and_run(kTools, from_seq(0));
  EXPECT_EQ(last_from, (ForkedFrom{.run = *original.run}));
  EXPECT_EQ(requests[0], Lines{"user: go"});
  ForkParams params = with_prompt("go elsewhere");
  params.from_seq = 0;
  requests.clear();
  fork_and_run(kTools, params);
  EXPECT_EQ(requests[0], Lines{"user: go elsewhere"});
}

TEST_F(ForkTest, ForkCanBeForked) {
  run_original(kTools);
  Client first = fork_and_run(kTools, with_prompt("and then?"));
  original.run = first.run;
  // The answer to "and then?" is given anew, so that is said again.
  requests.clear();
  fork_and_run(kTools, {});
  EXPECT_EQ(last_from, (ForkedFrom{.run = *first.run, .seq = 0, .turns = 3}));
  EXPECT_EQ(requests[0].back(), "user: and then?");
  requests.clear();
  ForkParams params = with_prompt("something else");
  params.from_seq = 0;
  fork_and_run(kTools, params);
  EXPECT_EQ(requests[0].back(), "user: something else");
  EXPECT_EQ(requests[0].size(), 7U);
}

TEST_F(ForkTest, EveryMomentAfterAForkCanBeTheLastOne) {
  run_original(kTools);
  int crashes = 0;
  for (int at = 1; at < 40; ++at) {
    SCOPED_TRACE(at);
    Client client;
    {
      World world(disk, kTools, {.at = at});
      std::optional<Result<ForkedRun>> forked;
      world.tasks.spawn("fork", Forker::fork(&world, *original.run, from_seq(6),
                                             {.key = cat("k", at), .fingerprint = "f"}, &forked));
      world.settle();
      if (forked && *forked) client.run = (*forked)->run;
      if (client.run) world.tasks.spawn("client", client.go(&world));
      world.run_until([&] { return client.done; });
      if (!world.crash.is_dead()) break;
    }
    ++crashes;
    EXPECT_EQ(findings_of(disk), Lines());
    World world(disk, kTools);
    world.tasks.spawn("recover", world.engine.recover());
    auto again = fork(world, *original.run, from_seq(6), {.key = cat("k", at), .fingerprint = "f"});
    ASSERT_TRUE(again);
    if (client.run) EXPECT_EQ(*client.run, again->run);
    client.run = again->run;
    world.tasks.spawn("client", client.go(&world));
    world.run_until([&] { return client.done; });
    EXPECT_TRUE(client.done);
    EXPECT_EQ(findings_of(disk), Lines());
  }
  EXPECT_GT(crashes, 8);
  EXPECT_EQ(disk.idempotent.begun, 1);
}

TEST_F(ForkTest, FrozenTurnIsTakenOverAsItIs) {
  constexpr std::string_view kFrozen = R"({"turns":[
    {"text":["x"],"toolCalls":[{"name":"look"},{"name":"look"}],"cutAfter":2},{"text":["ok"]}]})";
  run_original(kFrozen);
  World world(disk, kFrozen);
  bool refused = false;
  world.refuses = [&](const llm::TurnRequest& request) {
    Lines lines;
    for (const llm::MessagePtr& message : request.messages) lines.push_back(shown(*message));
    requests.push_back(std::move(lines));
    return !std::exchange(refused, true);
  };
  auto forked = fork(world, *original.run, with_prompt("so?"));
  ASSERT_TRUE(forked);
  EXPECT_EQ(forked->from.turns, 2);
  // From the frozen turn on, with a vendor that will not have it.
  ForkParams params = with_prompt("so?");
  params.from_seq = 5;
  refused = false;
  requests.clear();
  forked = fork(world, *original.run, params);
  ASSERT_TRUE(forked);
  EXPECT_EQ(forked->from.turns, 1);
  Client client{.run = forked->run};
  world.tasks.spawn("client", client.go(&world));
  world.run_until([&] { return client.done; });
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0][1], "assistant: x [look]");
  EXPECT_EQ(requests[1][1], "assistant: x");
  EXPECT_EQ(requests[1][2].substr(0, 30), "user: These tool calls were al");
  EXPECT_EQ(requests[1][3], "user: so?");
  EXPECT_EQ(findings_of(disk), Lines());
}

TEST_F(ForkTest, RunThatFailedIsTriedAgainFromItsLastFinishedTurn) {
  constexpr std::string_view kFails = R"({"turns":[
    {"toolCalls":[{"name":"look"}]},{"text":["half"],"cutAfter":1}]})";
  run_original(kFails);
  EXPECT_EQ(types_of(original).back(), "error");
  Client fork = fork_and_run(kTools, {});
  EXPECT_EQ(last_from.turns, 1);
  EXPECT_EQ(requests[0].back(), "user:  (look = answer)");
  EXPECT_EQ(types_of(fork).back(), "result");
}

TEST_F(ForkTest, AnswerThatWasRefusedIsGivenAnewOrFollowedByAPrompt) {
  run_original(R"({"turns":[
    {"toolCalls":[{"name":"look"}]},{"text":["I can","not"],"finishReason":"refusal"}]})");
  EXPECT_EQ(types_of(original).back(), "error");
  fork_and_run(kTools, {});
  EXPECT_EQ(last_from.turns, 1);
  EXPECT_EQ(requests[0].back(), "user:  (look = answer)");
  requests.clear();
  fork_and_run(kTools, with_prompt("so?"));
  EXPECT_EQ(last_from.turns, 2);
  EXPECT_EQ(requests[0].back(), "user: so?");
}

TEST_F(ForkTest, RunThatWaitsForItsClientCanBeForked) {
  original.answers = false;
  run_original(kTools);
  EXPECT_FALSE(original.done);
  fork_and_run(kTools, {});
  EXPECT_EQ(last_from.turns, 0);
  EXPECT_EQ(requests[0], Lines{"user: go"});
}

TEST_F(ForkTest, CancelledRunCanBeForked) {
  struct Canceller {
    static Task<void> cancel(World* world, RunId run) {
      auto cancelled = co_await world->engine.cancel(someone(), run);
      EXPECT_TRUE(cancelled);
    }
  };
  {
    World world(disk,
                R"({"turns":[{"toolCalls":[{"name":"look"}]},{"delayMs":9999,"text":["x"]}]})");
    world.tasks.spawn("client", original.go(&world));
    world.settle();
    world.tasks.spawn("cancel", Canceller::cancel(&world, *original.run));
    world.run_until([&] { return original.done; });
  }
  EXPECT_EQ(types_of(original).back(), "cancelled");
  Client fork = fork_and_run(kTools, {});
  EXPECT_EQ(last_from.turns, 1);
  EXPECT_EQ(types_of(fork).back(), "result");
}

TEST_F(ForkTest, TurnsThatAreTakenOverDoNotCountAgainstTheLimit) {
  run_original(kTools);
  ForkParams params = from_seq(6);
  params.overrides.budgets.max_tool_turns = 1;
  Client fork = fork_and_run(kTools, params);
  EXPECT_NE(fork.seen.back().find(R"("subtype":"success")"), std::string::npos);
}

TEST_F(ForkTest, OverridesReplaceWhatTheOriginalHad) {
  original.spec.name = "first";
  original.spec.metadata = {{"team", "a"}};
  run_original(kTools);
  ForkParams params = from_seq(9);
  params.overrides.name = "second";
  params.overrides.tools = share_tools({});
  Client fork = fork_and_run(kTools, params);
  StoredRun stored = stored_run(disk, *fork.run);
  EXPECT_EQ(stored.row.name, "second");
  EXPECT_EQ(stored.row.metadata, R"({"team":"a"})");
  EXPECT_EQ(types_of(fork).back(), "result");
}

TEST_F(ForkTest, MistakesAreNamed) {
  run_original(kTools);
  World world(disk, kTools);
  ForkParams params;
  params.overrides.model_id = "none";
  auto forked = fork(world, *original.run, params);
  ASSERT_FALSE(forked);
  EXPECT_EQ(forked.error().pointer(), "/modelId");
  auto unknown = fork(world, *RunId::parse("run_none"), {});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code(), ErrorCode::not_found);
}

}  // namespace
}  // namespace errand::engine::testing::fork_test
