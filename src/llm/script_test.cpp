#include "llm/script.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/text.hpp"

namespace errand::llm::script_test {
namespace {

// "pointer: message" of the refusal; "accepted" if there is none.
std::string refusal(std::string_view text) {
  auto script = parse_script(text);
  if (script) return "accepted";
  EXPECT_EQ(script.error().code(), ErrorCode::invalid_argument);
  return cat(script.error().pointer(), ": ", script.error().message());
}

std::string refusal_of_turn(std::string_view turn) {
  return refusal(cat(R"({"turns":[{"text":["hi"]},)", turn, "]}"));
}

TEST(Script, NeedsAtLeastOneTurn) {
  constexpr std::string_view kMissing = "/turns: expected an array with at least one turn";
  EXPECT_EQ(refusal("{}"), kMissing);
  EXPECT_EQ(refusal(R"({"turns":[]})"), kMissing);
  EXPECT_EQ(refusal(R"({"turns":null})"), kMissing);
  EXPECT_EQ(refusal(R"({"turns":{}})"), "/turns: expected an array, got an object");
  EXPECT_EQ(refusal("[]"), ": expected an object, got an array");
  EXPECT_EQ(refusal("{"), ": not valid JSON: incomplete JSON at byte 1");
}

TEST(Script, MayHaveCommentsAndTrailingCommas) {
  EXPECT_EQ(refusal("{ // the only turn\n \"turns\": [ {\"text\": [\"hi\",],}, ], }"), "accepted");
}

TEST(Script, AMistakeInATurnIsNamedWithItsPlace) {
  EXPECT_EQ(refusal_of_turn("7"), "/turns/1: expected an object, got an integer");
  EXPECT_EQ(refusal_of_turn(R"({"text":"hi"})"), "/turns/1/text: expected an array, got a string");
  EXPECT_EQ(refusal_of_turn(R"({"text":["hi",1]})"), "/turns/1/text: expected an array of strings");
  EXPECT_EQ(refusal_of_turn(R"({"thinking":[{}]})"),
            "/turns/1/thinking: expected an array of strings");
  EXPECT_EQ(refusal_of_turn(R"({"finishReason":1})"),
            "/turns/1/finishReason: expected a string, got an integer");
  EXPECT_EQ(refusal_of_turn(R"({"delayMs":-1})"),
            "/turns/1/delayMs: expected an integer from 0 to 3600000, got -1");
  EXPECT_EQ(refusal_of_turn(R"({"deltaDelayMs":3600001})"),
            "/turns/1/deltaDelayMs: expected an integer from 0 to 3600000, got 3600001");
  EXPECT_EQ(refusal_of_turn(R"({"cutAfter":-1})"),
            "/turns/1/cutAfter: expected an integer from 0 to 2147483647, got -1");
}

TEST(Script, AMistakeInACallIsNamedWithItsPlace) {
  EXPECT_EQ(refusal_of_turn(R"({"toolCalls":{}})"),
            "/turns/1/toolCalls: expected an array, got an object");
  EXPECT_EQ(refusal_of_turn(R"({"toolCalls":[{"name":"a"},{"args":{}}]})"),
            "/turns/1/toolCalls/1/name: \"name\" is missing: expected a string");
  EXPECT_EQ(refusal_of_turn(R"({"toolCalls":[{"name":"a","rawArgs":{}}]})"),
            "/turns/1/toolCalls/0/rawArgs: expected a string, got an object");
}

TEST(Script, AMistakeInAnErrorIsNamedWithItsPlace) {
  EXPECT_EQ(refusal_of_turn(R"({"error":"overloaded"})"),
            "/turns/1/error: expected an object, got a string");
  EXPECT_EQ(refusal_of_turn(R"({"error":{}})"),
            "/turns/1/error/status: \"status\" is missing: expected an integer from 400 to 599");
  EXPECT_EQ(refusal_of_turn(R"({"error":{"status":200}})"),
            "/turns/1/error/status: expected an integer from 400 to 599, got 200");
  EXPECT_EQ(refusal_of_turn(R"({"error":{"status":500,"message":1}})"),
            "/turns/1/error/message: expected a string, got an integer");
}

}  // namespace
}  // namespace errand::llm::script_test
