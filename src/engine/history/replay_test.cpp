#include "engine/history/replay.hpp"

#include <gtest/gtest.h>

#include "engine/flows/test_world.hpp"
#include "json/write.hpp"

namespace errand::engine::testing::replay_test {
namespace {

using Lines = std::vector<std::string>;

struct ReplayTest : ::testing::Test {
  Disk disk;
  Client client{
      .spec = spec_with_tools({client_tool("look"), client_tool("peek", true), HostTool{"careless"},
                               HostTool{"idempotent"}, HostTool{"slow"}})};

  // The run as `errand runs export` writes it.
  std::string export_of(const RunId& run) {
    RunExport out{.run = json::Object{{"runId", run.view()}}};
    StoredRun stored = stored_run(disk, run);
    for (const std::string& line : lines_of(stored.segments, 0)) {
      out.events.push_back(*json::parse(line));
    }
    std::string journal;
    for (const SegmentPtr& segment : stored.segments) journal += segment->journal;
    for (std::string_view rest = journal; !rest.empty();) {
      out.journal.push_back(*json::parse(take_line(rest)));
    }
    return write_export(std::move(out), disk.clock.now());
  }

  std::string export_of_run(std::string_view script, Limits limits = {}) {
    World world(disk, script, {}, limits);
    world.tasks.spawn("client", client.go(&world));
    world.run_until([&] { return client.done; });
    EXPECT_TRUE(client.done);
    return export_of(*client.run);
  }

  struct Canceller {
    static Task<void> cancel(World* world, RunId run) {
      auto cancelled = co_await world->engine.cancel(someone(), run);
      EXPECT_TRUE(cancelled);
    }
  };

  // How a replay went, in a word or with the difference.
  static std::string outcome(const std::string& text) {
    auto parsed = parse_export(text);
    if (!parsed) return "damaged: " + parsed.error().describe();
    auto report = replay(*parsed);
    if (!report) return "damaged: " + report.error().describe();
    if (!report->difference) return cat("identical: ", report->events);
    const ReplayDifference& difference = *report->difference;
    return cat(difference.number, "\n- ", difference.recorded, "\n+ ", difference.replayed, "\n",
               difference.following, " more");
  }

  std::string identical() const { return cat("identical: ", client.seen.size()); }
};

TEST_F(ReplayTest, TextIsSaidAgain) {
  EXPECT_EQ(
      outcome(export_of_run(R"({"turns":[{"text":["a","b","c"],"usage":{"inputTokens":3}}]})")),
      "identical: 5");
}

TEST_F(ReplayTest, ThinkingIsShownAgain) {
  client.spec.reasoning_level = 30;
  EXPECT_EQ(outcome(export_of_run(
                R"({"turns":[{"thinking":["hm"],"text":["a"],"toolCalls":[{"name":"look"}]},
                   {"thinking":["so"],"text":["b"]}]})")),
            identical());
}

TEST_F(ReplayTest, ParallelCallsGetTheirResultsAgain) {
  EXPECT_EQ(outcome(export_of_run(R"({"turns":[
      {"text":["x"],"toolCalls":[{"name":"look"},{"name":"idempotent"},{"name":"peek"},
                                 {"name":"nope"},{"name":"look","rawArgs":"[1]"}]},
      {"toolCalls":[{"name":"look"},{"name":"careless"},{"name":"look"}]},
      {"text":["done"]}]})")),
            identical());
  EXPECT_EQ(disk.careless.begun, 1);
}

TEST_F(ReplayTest, FrozenTurnIsFrozenAgain) {
  EXPECT_EQ(outcome(export_of_run(R"({"turns":[
      {"text":["a","b"],"toolCalls":[{"name":"look"},{"name":"look"}],"cutAfter":3},
      {"text":["ok"]}]})")),
            identical());
}

TEST_F(ReplayTest, BrokenTurnsAreAskedAgainAndGivenUp) {
  EXPECT_EQ(outcome(export_of_run(R"({"turns":[{"text":["half"],"cutAfter":1}]})")), identical());
}

TEST_F(ReplayTest, ErrorOfTheProviderComesAgain) {
  for (std::string_view script :
       {R"({"turns":[{"error":{"status":401}}]})", R"({"turns":[{"error":{"status":529}}]})",
        R"({"turns":[{"text":["cut"],"finishReason":"max_tokens"}]})",
        R"({"turns":[{"text":["no"],"finishReason":"refusal"}]})",
        R"({"turns":[{"finishReason":"content_filter"}]})"}) {
    disk.data = make_memory_store_data();
    client = {.spec = client.spec};
    EXPECT_EQ(outcome(export_of_run(script)), identical()) << script;
  }
}

TEST_F(ReplayTest, RefusedFrozenTurnIsRetoldAgain) {
  World world(disk, R"({"turns":[
    {"text":["x"],"toolCalls":[{"name":"look"},{"name":"look"}],"cutAfter":2},{"text":["ok"]}]})");
  world.refuses = [](const llm::TurnRequest& request) {
    return request.messages.size() > 1 && !request.messages[1]->calls.empty();
  };
  world.tasks.spawn("client", client.go(&world));
  world.run_until([&] { return client.done; });
  EXPECT_EQ(outcome(export_of(*client.run)), identical());
}

constexpr std::string_view kOneCall =
    R"({"turns":[{"text":["a"],"toolCalls":[{"name":"look"},{"name":"look"}]},{"text":["b"]}]})";

TEST_F(ReplayTest, TimeoutComesAgain) {
  client.answers = false;
  EXPECT_EQ(outcome(export_of_run(kOneCall)), identical());
  client = {.spec = client.spec, .answers = false};
  client.spec.budgets.on_local_tool_timeout = OnTimeout::go_on;
  disk.data = make_memory_store_data();
  EXPECT_EQ(outcome(export_of_run(kOneCall)), identical());
}

TEST_F(ReplayTest, RunThatTookTooLongTakesTooLongAgain) {
  client.answers = false;
  client.spec.budgets.local_tool_timeout = std::chrono::hours(24);
  EXPECT_EQ(outcome(export_of_run(kOneCall, {.run_time = std::chrono::hours(2)})), identical());
  client = {.spec = client.spec};
  disk.data = make_memory_store_data();
  EXPECT_EQ(
      outcome(export_of_run(R"({"turns":[{"deltaDelayMs":3600000,"text":["a","b","c","d","e"]}]})",
                            {.run_time = std::chrono::hours(2)})),
      identical());
}

TEST_F(ReplayTest, LimitOfTurnsIsMetAgain) {
  client.spec.budgets.max_tool_turns = 0;
  EXPECT_EQ(outcome(export_of_run(kOneCall)), identical());
}

TEST_F(ReplayTest, GuardsStepInAgain) {
  client.spec.loop_detection = LoopDetection{.hard_cutoff_threshold = 4};
  client.spec.tool_budgets = ToolBudgets{{"peek", 1}};
  EXPECT_EQ(outcome(export_of_run(R"({"turns":[
      {"toolCalls":[{"name":"peek"},{"name":"peek"}]},
      {"toolCalls":[{"name":"look"}]},{"toolCalls":[{"name":"look"}]},
      {"toolCalls":[{"name":"look"}]},{"toolCalls":[{"name":"look"}]},
      {"text":["Enough."]}]})")),
            identical());
  EXPECT_EQ(client.acknowledged.size(), 3U);
}

TEST_F(ReplayTest, AnswerIsPutRightAgain) {
  client.spec.output_schema = city_schema();
  for (std::string_view script :
       {R"({"turns":[{"text":["Oslo"]},{"text":["{\"city\":","\"Oslo\"}"]}]})",
        R"({"turns":[{"text":["Oslo"]},{"text":["Oslo!"]}]})",
        R"({"turns":[{"text":["Oslo"]},{"toolCalls":[{"name":"look"}]}]})"}) {
    disk.data = make_memory_store_data();
    client = {.spec = client.spec};
    EXPECT_EQ(outcome(export_of_run(script)), identical()) << script;
  }
}

TEST_F(ReplayTest, SchemaThatTheVendorRefusesIsToldInWordsAgain) {
  World world(disk, R"({"turns":[{"text":["{\"city\":\"Oslo\"}"]}]})");
  world.mechanism = OutputMechanism::native;
  world.refuses = [](const llm::TurnRequest& request) { return request.output_schema != nullptr; };
  client.spec.output_schema = city_schema();
  world.tasks.spawn("client", client.go(&world));
  world.run_until([&] { return client.done; });
  EXPECT_EQ(outcome(export_of(*client.run)), identical());
}

TEST_F(ReplayTest, CancelComesAgainWhereItCame) {
  struct Case {
    std::string_view script;
    std::size_t events;  // after which it is cancelled
  };
  for (Case one : {Case{R"({"turns":[{"deltaDelayMs":99,"text":["a","b","c"]}]})", 2},
                   Case{R"({"turns":[{"delayMs":99,"text":["a"]}]})", 0},
                   Case{R"({"turns":[{"deltaDelayMs":99,"toolCalls":[{"name":"look"},
                        {"name":"look"}],"text":["a"]}]})",
                        2},
                   Case{kOneCall, 4},
                   Case{R"({"turns":[{"toolCalls":[{"name":"slow"}]},{"text":["b"]}]})", 2}}) {
    disk.data = make_memory_store_data();
    client = {.spec = client.spec, .answers = false};
    World world(disk, one.script);
    world.tasks.spawn("client", client.go(&world));
    world.run_until([&] { return client.seen.size() >= one.events; });
    world.tasks.spawn("cancel", Canceller::cancel(&world, *client.run));
    world.run_until([&] { return client.done; });
    EXPECT_NE(client.seen.back().find("cancelled"), std::string::npos);
    EXPECT_EQ(outcome(export_of(*client.run)), identical()) << one.script;
  }
}

TEST_F(ReplayTest, BreakOfTheProcessCountsAsABrokenStream) {
  constexpr std::string_view kPaced = R"({"turns":[
    {"deltaDelayMs":10,"text":["x"],"toolCalls":[{"name":"peek"},{"name":"look"},
                                                 {"name":"idempotent"}]},
    {"deltaDelayMs":10,"text":["d","e"]}]})";
  int replayed = 0;
  for (int at = 1; at < 40; ++at) {
    disk.data = make_memory_store_data();
    client = {.spec = client.spec};
    bool crashed = false;
    {
      World world(disk, kPaced, {.at = at});
      world.tasks.spawn("client", client.go(&world));
      world.run_until([&] { return client.done; });
      crashed = world.crash.is_dead();
    }
    if (!crashed) break;
    World world(disk, kPaced);
    world.tasks.spawn("recover", world.engine.recover());
    world.tasks.spawn("client", client.go(&world));
    world.run_until([&] { return client.done; });
    ASSERT_TRUE(client.done);
    EXPECT_EQ(outcome(export_of(*client.run)).substr(0, 9), "identical") << "dies at " << at;
    ++replayed;
  }
  EXPECT_GT(replayed, 10);
}

TEST_F(ReplayTest, ForkIsReplayedFromWhereItBegan) {
  export_of_run(kOneCall);
  World world(disk, R"({"turns":[{"text":["a"]},{"text":["b"]},{"text":["c"],
    "toolCalls":[{"name":"look"}]},{"text":["d"]}]})");
  struct Forker {
    static Task<void> fork(World* world, Client* client) {
      auto forked = co_await world->engine.fork(someone(), *client->run,
                                                {.overrides = {.prompt = "more"}}, {});
      *client = {.run = forked->run};
      co_await client->go(world);
    }
  };
  world.tasks.spawn("fork", Forker::fork(&world, &client));
  world.run_until([&] { return client.run && client.done && client.seen.size() < 8; });
  EXPECT_EQ(client.seen.size(), 7U);
  EXPECT_EQ(outcome(export_of(*client.run)), identical());
}

TEST_F(ReplayTest, RunThatHasNotEndedIsReplayedAsFarAsItCame) {
  client.answers = false;
  World world(disk, kOneCall);
  world.tasks.spawn("client", client.go(&world));
  world.run_until([&] { return client.seen.size() == 4; });
  EXPECT_EQ(outcome(export_of(*client.run)), "identical: 4");
}

TEST_F(ReplayTest, EditedAnswerDiffersExactlyThere) {
  std::string text = export_of_run(R"({"turns":[{"text":["a","b","c"]}]})");
  std::size_t message = text.find(R"("type":"assistant_message","text":"abc")");
  ASSERT_NE(message, std::string::npos);
  text.replace(text.find("abc", message), 3, "abd");
  EXPECT_EQ(outcome(text),
            R"(4
- {"seq":4,"type":"assistant_message","text":"abd","turn":0,"finishReason":"end_turn"}
+ {"seq":4,"type":"assistant_message","text":"abc","turn":0,"finishReason":"end_turn"}
1 more)");
}

TEST_F(ReplayTest, MissingEventsDiffer) {
  std::string text = export_of_run(R"({"turns":[{"text":["a"]}]})");
  std::size_t end = text.find(",\n{\"seq\":3");
  ASSERT_NE(end, std::string::npos);
  text.erase(end, text.rfind("\n]") - end);
  EXPECT_EQ(outcome(text).substr(0, 6), "3\n- \n+");
}

TEST_F(ReplayTest, DamagedFilesAreNamed) {
  std::string text = export_of_run(R"({"turns":[{"text":["a"]}]})");
  EXPECT_EQ(outcome("{}"), "damaged: this is not an export of a run (at /errandExport)");
  EXPECT_EQ(outcome(R"({"errandExport":2})"),
            "damaged: this program reads version 1, not 2 (at /errandExport)");
  EXPECT_EQ(outcome(R"({"errandExport":1,"journal":[],"events":[]})"),
            "damaged: the journal has no turn");
  EXPECT_EQ(outcome(R"({"errandExport":1,"journal":[7],"events":[]})"),
            "damaged: expected an object (at /journal/0)");
  std::string unknown = text;
  unknown.replace(unknown.find("\"turn_end\""), 10, "\"turn_enx\"");
  EXPECT_EQ(outcome(unknown),
            "damaged: journal entry 3: unknown kind of journal entry: \"turn_enx\"");
  EXPECT_EQ(outcome(text.substr(0, text.size() / 2)).substr(0, 8), "damaged:");
}

TEST_F(ReplayTest, SecretsAreTakenOutAndTheRunStillReplays) {
  client.spec.metadata = {{"api_token", "hunter2"}};
  std::string text = export_of_run(R"({"turns":[
    {"toolCalls":[{"name":"look","args":{"password":"hunter2"}}]},{"text":["b"]}]})");
  EXPECT_EQ(text.find("hunter2"), std::string::npos);
  EXPECT_NE(text.find("[redacted]"), std::string::npos);
  EXPECT_EQ(outcome(text), identical());
}

TEST_F(ReplayTest, SchemaWithAPropertyNamedLikeASecretCanStillBeUsed) {
  client.spec = spec_with_tools(
      {LocalTool{.name = "look",
                 .parameters = share_schema(
                     {{"type", "object"},
                      {"properties", {{"password", {{"type", "string"}, {"default", "hunter2"}}}}},
                      {"required", {"password"}}})}});
  std::string text = export_of_run(R"({"turns":[
    {"toolCalls":[{"name":"look","args":{"password":"hunter2"}},{"name":"look"}]},
    {"text":["b"]}]})");
  EXPECT_EQ(text.find("hunter2"), std::string::npos);
  EXPECT_EQ(outcome(text), identical());
}

}  // namespace
}  // namespace errand::engine::testing::replay_test
