#include "agent/fold/result_check.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "json/parse.hpp"

namespace errand::agent::result_check_test {
namespace {

const ToolUseId kId = *ToolUseId::parse("tu_1");

struct ResultCheckTest : testing::Test {
  ToolDecl tool{.name = "weather",
                .output_schema = share_schema(
                    json::parse(R"({"type":"object","properties":{"celsius":{"type":"number"}},
                                    "required":["celsius"]})")
                        ->get_object())};
  json::SchemaCache schemas;

  OutcomeEntry check(OutcomeEntry outcome, std::optional<json::Value> structured = {}) {
    CallState call{.id = kId, .name = tool.name, .tool = &tool};
    if (!is_checked(call, outcome)) return outcome;
    return checked_outcome(*tool.output_schema, std::move(outcome), structured, schemas);
  }
  OutcomeEntry check(std::string text) { return check({.id = kId, .text = std::move(text)}); }
};

TEST_F(ResultCheckTest, AResultThatFitsIsLeftAsItIs) {
  OutcomeEntry outcome = check(R"({"celsius": 7, "more": true})");
  EXPECT_TRUE(outcome.ok);
  EXPECT_EQ(outcome.text, R"({"celsius": 7, "more": true})");
}

TEST_F(ResultCheckTest, StructuredContentIsCheckedInPlaceOfTheText) {
  OutcomeEntry said{.id = kId, .text = "7 degrees"};
  EXPECT_TRUE(check(said, json::Object{{"celsius", 7}}).ok);
  EXPECT_EQ(check(said, json::Object{{"celsius", 7}}).text, "7 degrees");
  EXPECT_FALSE(check(said, json::Object{{"celsius", "warm"}}).ok);
  EXPECT_FALSE(check(said).ok);
}

TEST_F(ResultCheckTest, AToolThatChecksItsResultsIsTrusted) {
  tool.annotations.checks_results = true;
  EXPECT_TRUE(check("7 degrees").ok);
}

TEST_F(ResultCheckTest, AResultThatDoesNotFitFailsAndSaysWhere) {
  OutcomeEntry outcome = check(R"({"celsius":"warm"})");
  EXPECT_FALSE(outcome.ok);
  EXPECT_TRUE(outcome.text.starts_with("The result does not fit the tool's output schema:\n"));
  EXPECT_NE(outcome.text.find("/celsius"), std::string::npos) << outcome.text;
  EXPECT_TRUE(outcome.text.ends_with("\nThe result was:\n{\"celsius\":\"warm\"}"));
}

TEST_F(ResultCheckTest, ATextThatIsNoJsonFails) {
  EXPECT_FALSE(check("seven degrees").ok);
  OutcomeEntry longer = check(std::string(5000, 'x'));
  EXPECT_LT(longer.text.size(), 2000U);
  EXPECT_TRUE(longer.text.ends_with("xxx..."));
}

TEST_F(ResultCheckTest, FailuresAndSyntheticOutcomesAreNotChecked) {
  EXPECT_EQ(check({.id = kId, .ok = false, .text = "dark"}).text, "dark");
  EXPECT_TRUE(check({.id = kId, .text = "made up", .synthetic = true}).ok);
}

TEST_F(ResultCheckTest, ToolsWithoutASchemaAndThoseOfMcpServersAreNotChecked) {
  tool.kind = "mcp";
  EXPECT_TRUE(check("seven degrees").ok);
  tool.kind = "local";
  tool.output_schema = nullptr;
  EXPECT_TRUE(check("seven degrees").ok);
}

}  // namespace
}  // namespace errand::agent::result_check_test
