#include "run/fork.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "json/parse.hpp"

namespace errand::fork_test {
namespace {

Result<ForkParams> parse(std::string_view text) {
  return parse_fork(*json::parse(text));
}

TEST(Fork, WhatIsAbsentStaysAsItIs) {
  Spec spec;
  spec.name = "n";
  spec.model_id = "m";
  spec.system_prompt = "s";
  spec.prompt = "p";
  spec.tools = share_tools({LocalTool{.name = "look"}});
  spec.metadata = {{"a", "b"}};
  spec.budgets.max_tool_turns = 7;
  spec.reasoning_level = 30;
  spec.output_schema = OutputSchema{.schema = share_schema({{"type", "object"}})};
  auto params = parse("{}");
  ASSERT_TRUE(params);
  EXPECT_FALSE(params->from_seq);
  EXPECT_FALSE(params->overrides.prompt);
  EXPECT_EQ(to_json(override_spec(spec, params->overrides)), to_json(spec));
}

constexpr std::string_view kEverything =
    R"({"fromSeq":7,"name":"n","modelId":"m","systemPrompt":"s","prompt":"p","tools":[],)"
    R"("metadata":{"a":"b"},"budgets":{"maxToolTurns":3},"reasoningLevel":0,)"
    R"("outputSchema":{"schema":{"type":"object"}}})";

TEST(Fork, IsWrittenAsItIsRead) {
  EXPECT_EQ(to_json(*parse("{}")), json::Object());
  EXPECT_EQ(to_json(*parse(R"({"systemPrompt":""})")), (json::Object{{"systemPrompt", ""}}));
  EXPECT_EQ(to_json(*parse(kEverything)), json::parse(kEverything)->as_object());
}

TEST(Fork, EveryMemberOfARunCanBeReplaced) {
  auto params = parse(kEverything);
  ASSERT_TRUE(params);
  EXPECT_EQ(params->from_seq, 7);
  EXPECT_EQ(params->overrides.prompt, "p");
  Spec spec;
  spec.prompt = "old";
  spec.tools = share_tools({LocalTool{.name = "look"}});
  spec.budgets.local_tool_timeout = milliseconds(5);
  EXPECT_EQ(to_json(override_spec(spec, params->overrides)),
            json::parse(R"({"name":"n","modelId":"m","systemPrompt":"s","prompt":"old","tools":[],)"
                        R"("metadata":{"a":"b"},"reasoningLevel":0,)"
                        R"("outputSchema":{"schema":{"type":"object"}},)"
                        R"("budgets":{"maxToolTurns":3,"localToolTimeoutMs":5}})")
                ->as_object());
}

TEST(Fork, MistakesHaveTheirPointer) {
  auto pointer = [](std::string_view text) {
    auto params = parse(text);
    return params ? "none" : params.error().pointer();
  };
  EXPECT_EQ(pointer(R"({"messages":[]})"), "/messages");
  for (const char* key : {"retainTools", "room", "requiredToolkits", "plan"}) {
    EXPECT_EQ(pointer(cat("{\"", key, "\":[]}")), cat("/", key));
  }
  EXPECT_EQ(pointer(R"({"fromSeq":-1})"), "/fromSeq");
  EXPECT_EQ(pointer(R"({"prompt":7})"), "/prompt");
  EXPECT_EQ(pointer(R"({"tools":[{"kind":"host","name":"x"}]})"), "/tools/0/kind");
  EXPECT_EQ(pointer(R"({"budgets":{"maxToolTurns":-1}})"), "/budgets/maxToolTurns");
  EXPECT_EQ(pointer("[]"), "");
}

}  // namespace
}  // namespace errand::fork_test
