// Tools of clients: what their answers may say, beyond an outcome.
#include <algorithm>

#include "agent/agent_run.hpp"
#include "engine/flows/test_run.hpp"
#include "json/members.hpp"
#include "run/tools/tool_set.hpp"

namespace errand::engine::testing::client_tools_test {
namespace {

struct ClientToolsTest : RunTest {
  std::string open_call(World& world) {
    world.tasks.spawn("client", client.go(&world));
    world.settle();
    return client.pending.empty() ? "" : *client.pending.begin();
  }
};

constexpr std::string_view kOneLook =
    R"({"turns":[{"toolCalls":[{"name":"look"}]},{"text":["ok"]}]})";

TEST_F(ClientToolsTest, FatalAnswerEndsTheRun) {
  World world(disk, kOneLook);
  client.spec = spec_with_tools({client_tool("look")});
  client.answers = false;
  std::string call = open_call(world);
  CallAnswer answer{.tool_use_id = call,
                    .answer = {.ok = false, .text = "no key", .is_fatal = true}};
  EXPECT_TRUE(world.result_of(world.engine.answer(someone(), *client.run, answer)));
  world.settle();
  EXPECT_NE(client.seen.back().find(R"("subtype":"error_tool_fatal","error":"no key")"),
            std::string::npos);
  EXPECT_EQ(findings_of(disk), std::vector<std::string>());
}

// The bytes of all results that events show.
std::size_t result_bytes(const std::vector<std::string>& lines) {
  std::size_t bytes = 0;
  for (const std::string& line : lines) {
    auto event = json::parse(line);
    bytes += json::text_at(event->if_object(), "result").size();
  }
  return bytes;
}

TEST_F(ClientToolsTest, ResultsOfOneTurnShareTheRoomThatTheConversationHasLeft) {
  World world(disk,
              R"({"turns":[{"toolCalls":[{"name":"look"},{"name":"look"},{"name":"look"}]},
                  {"text":["never said"]}]})",
              {}, {.conversation_bytes_max = 1000});
  client.spec = spec_with_tools({client_tool("look")});
  client.answers = false;
  open_call(world);
  const std::set<std::string> calls = client.pending;
  ASSERT_EQ(calls.size(), 3U);
  std::string text;
  for (int i = 0; i < 300; ++i) text += "\u20ac";
  for (const std::string& call : calls) {
    EXPECT_TRUE(world.result_of(world.engine.answer(
        someone(), *client.run, {.tool_use_id = call, .answer = {.text = text}})));
  }
  world.settle();
  EXPECT_NE(client.seen.back().find(R"("subtype":"error_max_conversation_bytes")"),
            std::string::npos);
  EXPECT_GT(result_bytes(client.seen), 900U);
  EXPECT_LE(result_bytes(client.seen), 1008U);
  EXPECT_EQ(findings_of(disk), std::vector<std::string>());
}

TEST_F(ClientToolsTest, ProgressIsShownAndDoesNotAnswerTheCall) {
  World world(disk, kOneLook);
  client.spec = spec_with_tools({client_tool("look")});
  client.answers = false;
  std::string call = open_call(world);
  auto report = [&](std::string id) {
    return world.result_of(world.engine.report_progress(someone(), std::move(id),
                                                        {.message = "on it", .progress = 3}));
  };
  EXPECT_TRUE(report(call));
  world.pass(seconds(1));
  EXPECT_EQ(types_of(client.seen),
            (Types{"local_tool_call", "assistant_message", "tool_progress"}));
  EXPECT_EQ(findings_of(disk), std::vector<std::string>());
  // A run that has left memory takes a report, too.
  world.pass(seconds(10));
  EXPECT_TRUE(report(call));
  world.pass(seconds(1));
  EXPECT_EQ(types_of(client.seen).back(), "tool_progress");

  EXPECT_EQ(report("tu_nobody").error().reason(), "unknown_tool_use");
  EXPECT_EQ(report("").error().reason(), "unknown_tool_use");
  EXPECT_TRUE(world.result_of(world.engine.answer(
      someone(), *client.run, {.tool_use_id = call, .answer = {.text = "seen"}, .claim_id = {}})));
  world.settle();
  EXPECT_EQ(report(call).error().reason(), "unknown_tool_use");
  EXPECT_EQ(types_of(client.seen).back(), "result");
}

TEST_F(ClientToolsTest, ProgressWithoutEndIsDroppedAlsoIfTheRunLeavesMemoryInBetween) {
  World world(disk, kOneLook);
  ToolAnnotations patient{.timeout = std::chrono::hours(24)};
  client.spec = spec_with_tools({LocalTool{.name = "look", .annotations = patient}});
  client.answers = false;
  std::string call = open_call(world);
  for (int i = 0; i < agent::AgentRun::kReportsMax + 3; ++i) {
    EXPECT_TRUE(world.result_of(world.engine.report_progress(someone(), call, {.message = "on"})));
    world.pass(seconds(1));
    world.pass(seconds(3));
    ASSERT_EQ(world.engine.count(Place::resting), 1U);
  }
  Types types = types_of(client.seen);
  EXPECT_EQ(std::count(types.begin(), types.end(), "tool_progress"), agent::AgentRun::kReportsMax);
}

TEST_F(ClientToolsTest, ToolHasATimeoutOfItsOwn) {
  World world(disk, kOneLook);
  client.spec =
      spec_with_tools({LocalTool{.name = "look", .annotations = {.timeout = seconds(5)}}});
  client.answers = false;
  SteadyTime begun = world.timers.now();
  run(world);
  EXPECT_EQ(world.timers.now() - begun, seconds(5));
  EXPECT_NE(client.seen.back().find("error_local_tool_timeout"), std::string::npos);
}

TEST_F(ClientToolsTest, IdempotentCallIsOfferedAgainAfterARestart) {
  client.spec = spec_with_tools({LocalTool{.name = "look", .annotations = {.idempotent = true}}});
  client.answers = false;
  {
    World world(disk, kOneLook);
    open_call(world);
  }
  World world(disk, kOneLook);
  client.answers = true;
  client.pending.clear();  // it was forgotten
  world.engine.start();
  run(world);
  Types types = types_of(client.seen);
  EXPECT_EQ(std::count(types.begin(), types.end(), "local_tool_call"), 2);
}

}  // namespace
}  // namespace errand::engine::testing::client_tools_test
