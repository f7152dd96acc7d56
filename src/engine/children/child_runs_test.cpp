// Runs that call stored agents, each of which is a run of its own.
#include <algorithm>

#include "engine/flows/test_run.hpp"

namespace errand::engine::testing::child_runs_test {
namespace {

constexpr std::string_view kCallsHelper = R"({"turns":[
    {"toolCalls":[{"name":"helper","args":{"message":"Help me."}}]},{"text":["ok"]}]})";
constexpr std::string_view kChildLooks = R"({"turns":[
    {"text":["Let me look."],"toolCalls":[{"name":"look"}]},{"text":["seen"]}]})";
// The agent has a tool that nobody answers.
constexpr const char* kLook = R"(,"tools":[{"kind":"local","name":"look"}])";

struct ChildRunsTest : RunTest {
  ChildRunsTest() { client.spec = spec_with_tools({StoredAgent{.agent_id = "helper"}}); }

  // Keeps an agent whose model is "child".
  static void keep_agent(World& world, std::string name, std::string more = "") {
    auto kept = world.result_of(world.records.agents.put(
        someone().workspace, name, name, cat(R"({"modelId":"child")", more, "}"), {}));
    EXPECT_TRUE(kept);
  }

  // Runs of the disk, but for the client's own.
  std::vector<RunRow> children() {
    auto rows =
        read_disk<std::vector<RunRow>>(disk, [](Store* store) { return store->all_runs({}, 100); });
    std::erase_if(rows, [this](const RunRow& row) { return client.run && row.id == *client.run; });
    return rows;
  }
  std::vector<std::string> lines_with(std::string_view part) const {
    std::vector<std::string> lines;
    for (const std::string& line : client.seen) {
      if (line.find(part) != std::string::npos) lines.push_back(line);
    }
    return lines;
  }
  bool all_ended() {
    auto rows = children();
    return std::all_of(rows.begin(), rows.end(),
                       [](const RunRow& row) { return is_terminal(row.status); });
  }
  // Until the client's run and every run that it has called are over.
  void run_all(World& world) {
    world.tasks.spawn("client", client.go(&world));
    world.run_until([&] { return client.done && all_ended(); });
    EXPECT_EQ(world.bugs, std::vector<std::string>());
    EXPECT_EQ(findings_of(disk), std::vector<std::string>());
  }
};

TEST_F(ChildRunsTest, AnswerOfTheAgentIsTheResultOfTheCall) {
  World world(disk, kCallsHelper);
  keep_agent(world, "helper");
  run_all(world);
  EXPECT_EQ(types_of(client.seen), (Types{"tool_call", "assistant_message", "tool_result",
                                          "assistant_delta", "assistant_message", "result"}));
  auto runs = children();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(lines_with(R"("result":"child done")").size(), 1U);
  EXPECT_EQ(lines_with(cat(R"("childRunId":")", runs[0].id.view(), "\"")).size(), 1U);
  std::string parent = cat(R"("errand.parentRunId":")", client.run->view(), "\"");
  EXPECT_NE(runs[0].metadata.find(parent), std::string::npos) << runs[0].metadata;
  EXPECT_EQ(world.asked_about[1], "Help me.");
}

TEST_F(ChildRunsTest, FailureOfTheAgentIsAFailedResult) {
  disk.child_script = R"({"turns":[{"error":{"status":400,"code":"bad","message":"no way"}}]})";
  World world(disk, kCallsHelper);
  keep_agent(world, "helper");
  run_all(world);
  EXPECT_EQ(lines_with(R"("ok":false,"summary":"The agent failed: )").size(), 1U);
  EXPECT_EQ(types_of(client.seen).back(), "result");
}

TEST_F(ChildRunsTest, WhatTheAgentDoesIsProgressOfTheCall) {
  disk.child_script = R"({"turns":[
      {"text":["Let me count."],"toolCalls":[{"name":"idempotent"}]},{"text":["one"]}]})";
  World world(disk, kCallsHelper);
  keep_agent(world, "helper", R"(,"tools":[])");
  client.spec = spec_with_tools({StoredAgent{.agent_id = "helper"}});
  run_all(world);
  std::vector<std::string> reports = lines_with("tool_progress");
  ASSERT_GE(reports.size(), 1U);
  EXPECT_NE(reports[0].find("Let me count."), std::string::npos) << reports[0];
  EXPECT_NE(reports[0].find(children()[0].id.view()), std::string::npos) << reports[0];
}

TEST_F(ChildRunsTest, RunThatWaitsForItsAgentLeavesItsSlot) {
  World world(disk, kCallsHelper, {}, {.slots = {.in_all = 1}});
  keep_agent(world, "helper");
  run_all(world);
  EXPECT_EQ(lines_with(R"("result":"child done")").size(), 1U);
  EXPECT_EQ(world.engine.slots().in_flight(), 0U);
}

TEST_F(ChildRunsTest, RunThatCallsOtherToolsTooLeavesItsSlotInTheEnd) {
  World world(disk,
              R"({"turns":[{"toolCalls":[{"name":"idempotent"},
                  {"name":"helper","args":{"message":"Help me."}},{"name":"careless"}]},
                  {"text":["ok"]}]})",
              {}, {.slots = {.in_all = 1}});
  keep_agent(world, "helper");
  client.spec = spec_with_tools(
      {StoredAgent{.agent_id = "helper"}, HostTool{"idempotent"}, HostTool{"careless"}});
  run_all(world);
  EXPECT_EQ(lines_with(R"("result":"child done")").size(), 1U);
  EXPECT_EQ(disk.careless.begun, 1);
}

TEST_F(ChildRunsTest, AgentsCallAgentsFiveDeepAtMost) {
  disk.child_script = R"({"turns":[
      {"toolCalls":[{"name":"helper","args":{"message":"Help me."}}]},{"text":["back"]}]})";
  World world(disk, kCallsHelper);
  keep_agent(world, "helper", R"(,"tools":[{"kind":"agent","agentId":"helper"}])");
  run_all(world);
  auto runs = children();
  ASSERT_EQ(runs.size(), static_cast<std::size_t>(kChildDepthMax));
  std::string deepest = cat(log_of(disk, runs.back().id)[2]);
  EXPECT_NE(deepest.find("at most 5 deep"), std::string::npos) << deepest;
  EXPECT_EQ(types_of(client.seen).back(), "result");
}

TEST_F(ChildRunsTest, RunIsBoundToTheVersionOfTheAgent) {
  World world(disk, R"({"turns":[{"toolCalls":[{"name":"look"}]},
      {"toolCalls":[{"name":"helper","args":{"message":"Help me."}}]},{"text":["ok"]}]})");
  keep_agent(world, "helper", R"(,"metadata":{"v":"1"})");
  client.spec = spec_with_tools({StoredAgent{.agent_id = "helper"}, client_tool("look")});
  client.answers = false;
  world.tasks.spawn("client", client.go(&world));
  world.settle();
  keep_agent(world, "helper", R"(,"metadata":{"v":"2"})");
  ASSERT_EQ(client.pending.size(), 1U);
  EXPECT_TRUE(world.result_of(world.engine.answer(
      someone(), *client.run,
      {.tool_use_id = *client.pending.begin(), .answer = {.text = "seen"}, .claim_id = {}})));
  world.run_until([&] { return client.done; });
  ASSERT_EQ(children().size(), 1U);
  EXPECT_NE(children()[0].metadata.find(R"("v":"1")"), std::string::npos);
}

TEST_F(ChildRunsTest, CallerMayOnlyCallTheAgentsOfItsKey) {
  World world(disk, kCallsHelper);
  keep_agent(world, "helper");
  keep_agent(world, "other");
  Principal who = someone();
  who.grant = std::make_shared<const Grant>(Grant{.agents = std::vector<std::string>{"other"}});
  client.spec.agent_id = "other";
  auto created = world.result_of(world.engine.create(who, client.spec, {}));
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code(), ErrorCode::forbidden);
  EXPECT_EQ(created.error().pointer(), "/tools/0/agentId");
}

// What the key may run also holds for the agents that its agents call.
TEST_F(ChildRunsTest, AgentOfAnAgentMustBeOneOfTheKey) {
  disk.child_script = R"({"turns":[
      {"toolCalls":[{"name":"helper","args":{"message":"Help me."}}]},{"text":["back"]}]})";
  World world(disk, kCallsHelper, {}, {}, {}, "scripted");
  keep_agent(world, "deep", R"(,"tools":[{"kind":"agent","agentId":"secret","name":"helper"}])");
  keep_agent(world, "secret");
  keep_agent(world, "top", R"(,"tools":[{"kind":"agent","agentId":"deep","name":"helper"}])");
  Principal who = someone();
  who.grant =
      std::make_shared<const Grant>(Grant{.agents = std::vector<std::string>{"top", "deep"}});
  Spec spec = spec_with_tools({});
  spec.agent_id = "top";
  auto created = world.result_of(world.engine.create(who, spec, {}));
  ASSERT_TRUE(created) << created.error().describe();
  client.run = *created;
  run_all(world);
  EXPECT_TRUE(children().empty());
  EXPECT_EQ(lines_with("this key must not run the agent").size(), 1U);
}

TEST_F(ChildRunsTest, AgentThatIsNotThereIsAMistake) {
  World world(disk, kCallsHelper);
  auto created = world.result_of(world.engine.create(someone(), client.spec, {}));
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(created.error().pointer(), "/tools/0/agentId");
}

TEST_F(ChildRunsTest, TurnsOfTheAgentCountForItsCaller) {
  disk.child_script = R"({"turns":[{"toolCalls":[{"name":"look"}]},{"text":["seen"]}]})";
  World world(disk, R"({"turns":[
      {"toolCalls":[{"name":"helper","args":{"message":"One."}}]},
      {"toolCalls":[{"name":"helper","args":{"message":"Two."}}]},{"text":["ok"]}]})");
  keep_agent(world, "helper");
  client.spec.budgets.max_tool_turns = 2;
  run_all(world);
  EXPECT_EQ(children().size(), 1U);
  EXPECT_NE(client.seen.back().find("error_max_tool_turns"), std::string::npos)
      << client.seen.back();
}

TEST_F(ChildRunsTest, CancelReachesTheAgent) {
  disk.child_script = kChildLooks;
  World world(disk, kCallsHelper);
  keep_agent(world, "helper", kLook);
  client.cancels_after = 3;
  run_all(world);
  ASSERT_EQ(children().size(), 1U);
  EXPECT_EQ(children()[0].status, RunStatus::cancelled);
  EXPECT_EQ(types_of(client.seen).back(), "cancelled");
}

TEST_F(ChildRunsTest, FailureOfACallBesideItEndsTheAgent) {
  constexpr std::string_view kBoth = R"({"turns":[
      {"toolCalls":[{"name":"helper","args":{"message":"Help me."}},{"name":"fussy"}]},
      {"text":["ok"]}]})";
  disk.child_script = kChildLooks;
  World world(disk, kBoth);
  keep_agent(world, "helper", kLook);
  LocalTool fussy{.name = "fussy", .annotations = {.cancel_siblings = true}};
  client.spec = spec_with_tools({StoredAgent{.agent_id = "helper"}, fussy});
  client.answers = false;
  world.tasks.spawn("client", client.go(&world));
  world.run_until([&] { return !client.pending.empty() && children().size() == 1; });
  EXPECT_FALSE(all_ended());

  CallAnswer failure{.tool_use_id = *client.pending.begin(),
                     .answer = {.ok = false, .text = "no"},
                     .claim_id = {}};
  ASSERT_TRUE(world.result_of(world.engine.answer(someone(), *client.run, failure)));
  world.run_until([&] { return client.done && all_ended(); });

  EXPECT_EQ(children().at(0).status, RunStatus::cancelled);
  EXPECT_EQ(types_of(client.seen).back(), "result");
  EXPECT_EQ(world.bugs, std::vector<std::string>());
  EXPECT_EQ(findings_of(disk), std::vector<std::string>());
}

TEST_F(ChildRunsTest, AgentHasNoMoreTimeThanItsCaller) {
  disk.child_script = kChildLooks;
  World world(disk, kCallsHelper, {},
              {.local_tool_timeout = seconds(600), .run_time = seconds(60)});
  keep_agent(world, "helper", kLook);
  SteadyTime begun = world.timers.now();
  run_all(world);
  EXPECT_NE(client.seen.back().find("error_max_run_time"), std::string::npos);
  EXPECT_TRUE(is_terminal(children().at(0).status));
  EXPECT_LE(world.timers.now() - begun, seconds(70));
}

// The process dies before and after every write; the next one goes on.
struct ChildCrashTest : ChildRunsTest {
  // Whether the first process died as planned.
  bool live_through(std::string_view more, int at) {
    disk.data = make_memory_store_data();
    client = {.spec = client.spec, .cancels_after = client.cancels_after};
    {
      World world(disk, kCallsHelper);
      keep_agent(world, "helper", std::string(more));
    }
    bool died = false;
    for (int death : {at, 0}) {
      World world(disk, kCallsHelper, {.at = death});
      world.tasks.spawn("recover", world.engine.recover());
      world.tasks.spawn("client", client.go(&world));
      world.run_until([&] { return client.done && all_ended(); });
      EXPECT_EQ(world.bugs, std::vector<std::string>());
      died = died || world.crash.is_dead();
      EXPECT_EQ(findings_of(disk), std::vector<std::string>()) << "what the process left";
    }
    EXPECT_TRUE(client.done);
    EXPECT_TRUE(all_ended());
    return died;
  }
};

TEST_F(ChildCrashTest, CallHasOneRunWhereverTheProcessDies) {
  for (int at = 1;; ++at) {
    SCOPED_TRACE(cat("dies at step ", at));
    bool died = live_through("", at);
    EXPECT_EQ(children().size(), 1U);
    EXPECT_EQ(lines_with(R"("result":"child done")").size(), 1U);
    EXPECT_EQ(type_of_line(client.seen.back()), "result");
    if (!died) break;
    ASSERT_LT(at, 200);
  }
}

TEST_F(ChildCrashTest, CancelledRunLeavesNoRunBehindWhereverTheProcessDies) {
  disk.child_script = kChildLooks;
  client.cancels_after = 3;
  for (int at = 1;; ++at) {
    SCOPED_TRACE(cat("dies at step ", at));
    bool died = live_through(kLook, at);
    EXPECT_EQ(type_of_line(client.seen.back()), "cancelled");
    for (const RunRow& row : children()) EXPECT_EQ(row.status, RunStatus::cancelled);
    if (!died) break;
    ASSERT_LT(at, 200);
  }
}

}  // namespace
}  // namespace errand::engine::testing::child_runs_test
