// Runs whose answer the vendor puts an end to.
#include <gtest/gtest.h>

#include "engine/flows/test_run.hpp"

namespace errand::engine::testing::refusal_test {
namespace {

struct RefusalTest : RunTest {};

TEST_F(RefusalTest, AnswerThatItsVendorPutsAnEndToIsAMessageThenAnError) {
  World world(disk, R"({"turns":[{"text":["I can","not"],"finishReason":"refusal"}]})");
  client.spec = spec_with_tools({});
  run(world);
  EXPECT_EQ(types_of(client.seen),
            (Types{"assistant_delta", "assistant_delta", "assistant_message", "error"}));
  EXPECT_NE(client.seen[2].find(R"("text":"I cannot","turn":0,"finishReason":"refusal")"),
            std::string::npos);
  EXPECT_NE(client.seen.back().find(
                R"("errorClass":"refusal","finishReason":"refusal","partialText":"I cannot")"),
            std::string::npos);
}

TEST_F(RefusalTest, AnswerThatWasRefusedBeforeAWordIsAnErrorAlone) {
  World world(disk, R"({"turns":[{"finishReason":"content_filter"}]})");
  client.spec = spec_with_tools({});
  run(world);
  EXPECT_EQ(types_of(client.seen), Types{"error"});
  EXPECT_EQ(client.seen.back().find("partialText"), std::string::npos);
}

TEST_F(RefusalTest, CallsThatWereClosedBeforeItFinishBeforeTheRunEnds) {
  World world(disk, R"({"turns":[
    {"text":["Look."],"toolCalls":[{"name":"look"}],"finishReason":"refusal"}]})");
  client.spec = spec_with_tools({client_tool("look")});
  run(world);
  EXPECT_EQ(types_of(client.seen), (Types{"assistant_delta", "local_tool_call", "assistant_message",
                                          "local_tool_result_in", "error"}));
  EXPECT_NE(client.seen[2].find(R"("finishReason":"interrupted")"), std::string::npos);
  EXPECT_EQ(client.seen.back().find("partialText"), std::string::npos);
}

TEST_F(RefusalTest, FrozenTurnThatIsRefusedInPlainWordsAsWellEndsTheRun) {
  constexpr int kEnough = 10;
  World world(disk, R"({"turns":[
    {"text":["x"],"toolCalls":[{"name":"look"},{"name":"look"}],"cutAfter":2},{"text":["ok"]}]})");
  world.refuses = [&](const llm::TurnRequest&) { return world.asked > 1 && world.asked < kEnough; };
  client.spec = spec_with_tools({client_tool("look")});
  run(world);
  EXPECT_EQ(world.asked, 3);
  EXPECT_EQ(types_of(client.seen), (Types{"assistant_delta", "local_tool_call", "assistant_message",
                                          "local_tool_result_in", "error"}));
  EXPECT_NE(client.seen.back().find("not like this"), std::string::npos);
}

}  // namespace
}  // namespace errand::engine::testing::refusal_test
