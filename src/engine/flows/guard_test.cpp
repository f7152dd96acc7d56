// Runs whose calls the guards do not let through.
#include <gtest/gtest.h>

#include "engine/flows/test_run.hpp"

namespace errand::engine::testing::guard_test {
namespace {

struct GuardTest : RunTest {};

TEST_F(GuardTest, ToolTurnsPastTheLimitMayEndInAnAnswerWithoutTools) {
  World world(disk, R"({"turns":[{"toolCalls":[{"name":"look"}]},
    {"toolCalls":[{"name":"look","args":{"n":2}}]},{"text":["Enough."]}]})");
  client.spec = spec_with_tools({client_tool("look")});
  client.spec.budgets.max_tool_turns = 1;
  client.spec.budgets.on_turns_exceeded = OnTurnsExceeded::finalize;
  run(world);
  EXPECT_EQ(
      types_of(client.seen),
      (Types{"local_tool_call", "assistant_message", "local_tool_result_in", "assistant_message",
             "tool_result", "assistant_delta", "assistant_message", "result"}));
  EXPECT_NE(client.seen.back().find(R"("subtype":"success","text":"Enough.")"), std::string::npos);
}

constexpr std::string_view kLoop = R"({"turns":[
  {"toolCalls":[{"name":"look"}]},{"toolCalls":[{"name":"look"}]},{"toolCalls":[{"name":"look"}]},
  {"toolCalls":[{"name":"look"}]},{"text":["Enough."]}]})";

TEST_F(GuardTest, CallsThatRepeatThemselvesAreSkippedThenToolsAreSwitchedOff) {
  World world(disk, kLoop);
  client.spec = spec_with_tools({client_tool("look")});
  client.spec.loop_detection = LoopDetection{.hard_cutoff_threshold = 4};
  run(world);
  EXPECT_EQ(
      types_of(client.seen),
      (Types{"local_tool_call", "assistant_message", "local_tool_result_in", "local_tool_call",
             "assistant_message", "local_tool_result_in", "assistant_message", "tool_result",
             "loop_detected", "assistant_message", "tool_result", "loop_detected",
             "assistant_delta", "assistant_message", "result"}));
  EXPECT_NE(client.seen[8].find(R"("consecutiveCount":3,"hardCutoff":false,"tools":["look"])"),
            std::string::npos);
  EXPECT_NE(client.seen[11].find(R"("consecutiveCount":4,"hardCutoff":true,"tools":["look"])"),
            std::string::npos);
}

TEST_F(GuardTest, CallsMayRepeatThemselvesWithoutTheGuard) {
  World world(disk, kLoop);
  client.spec = spec_with_tools({client_tool("look")});
  client.spec.loop_detection = LoopDetection{.is_off = true};
  run(world);
  EXPECT_EQ(client.acknowledged.size(), 4U);
}

TEST_F(GuardTest, CallsPastTheBudgetOfTheirToolAreNotMade) {
  World world(disk, R"({"turns":[
    {"toolCalls":[{"name":"look","args":{"n":1}},{"name":"look","args":{"n":2}}]},
    {"text":["ok"]}]})");
  client.spec = spec_with_tools({client_tool("look")});
  client.spec.tool_budgets = ToolBudgets{{"look", 1}};
  run(world);
  EXPECT_EQ(types_of(client.seen),
            (Types{"local_tool_call", "assistant_message", "tool_result", "tool_budget_exceeded",
                   "local_tool_result_in", "assistant_delta", "assistant_message", "result"}));
  EXPECT_NE(client.seen[3].find(R"("tool":"look","maxCalls":1,"callIndex":2)"), std::string::npos);
}

}  // namespace
}  // namespace errand::engine::testing::guard_test
