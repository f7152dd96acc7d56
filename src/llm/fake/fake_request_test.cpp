// What the fake formats read in requests.
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "llm/fake/test_formats.hpp"

namespace errand::llm::fake_request_test {
namespace {

// The turn that is asked for, or why the request is refused.
std::string turn_in(const FakeFormat& format, std::string_view body) {
  auto request = format.read(object_of(body));
  return request ? cat(request->turn) : request.error().message();
}

std::string chat(std::string_view messages) {
  return turn_in(*make_fake_chat(), cat(R"({"model":"m","messages":)", messages, "}"));
}
std::string responses(std::string_view rest) {
  return turn_in(*make_fake_responses(), cat(R"({"model":"m",)", rest, "}"));
}
std::string anthropic(std::string_view messages) {
  return turn_in(*make_fake_anthropic(),
                 cat(R"({"model":"m","max_tokens":9,"messages":)", messages, "}"));
}
std::string gemini(std::string_view contents) {
  return turn_in(*make_fake_gemini(), cat(R"({"contents":)", contents, "}"));
}

TEST(FakeRequest, ChatCountsTheAssistantsMessages) {
  EXPECT_EQ(chat(R"([{"role":"user"}])"), "0");
  EXPECT_EQ(chat(R"([{"role":"system"},{"role":"user"},{"role":"assistant"},{"role":"tool"},
                     {"role":"tool"},{"role":"assistant"},{"role":"user"}])"),
            "2");
}

TEST(FakeRequest, ResponsesCountsTheItemsOfATurnOnce) {
  EXPECT_EQ(responses(R"("input":"hi")"), "0");
  EXPECT_EQ(responses(R"("input":[{"role":"user"},{"type":"reasoning"},
                          {"type":"message","role":"assistant"},{"type":"function_call"},
                          {"type":"function_call"},{"type":"function_call_output"},
                          {"type":"function_call_output"},{"role":"assistant"},{"role":"user"}])"),
            "2");
  EXPECT_EQ(responses(R"("input":[{"role":"user"},{"type":"item_reference","id":"msg_1"},
                          {"type":"mcp_approval_response"},{"type":"item_reference","id":"msg_2"},
                          {"role":"user"}])"),
            "2");
}

TEST(FakeRequest, ResponsesGoesOnFromAnEarlierResponse) {
  EXPECT_EQ(responses(R"("input":"hi","previous_response_id":"resp_s0_2")"), "3");
  EXPECT_EQ(responses(R"("input":[{"type":"function_call_output"}],
                         "previous_response_id":"resp_s0_0")"),
            "1");
  EXPECT_EQ(responses(R"("input":"hi","previous_response_id":"resp_abc")"),
            "Previous response with id 'resp_abc' not found.");
  EXPECT_EQ(responses(R"("input":"hi","previous_response_id":7)"),
            "Previous response with id '' not found.");
  EXPECT_EQ(responses(R"("input":"hi","conversation":"conv_1")"),
            "Unsupported parameter: 'conversation'. This fake keeps no conversations; send "
            "'previous_response_id' or the items of earlier turns.");
}

TEST(FakeRequest, AnthropicCountsNeighboursOnce) {
  EXPECT_EQ(anthropic(R"([{"role":"user"}])"), "0");
  EXPECT_EQ(anthropic(R"([{"role":"user"},{"role":"assistant"},{"role":"assistant"},
                          {"role":"user"},{"role":"assistant"},{"role":"user"}])"),
            "2");
  EXPECT_EQ(anthropic(R"([{"role":"user"},{"role":"assistant"}])"),
            "This model does not support assistant message prefill. The conversation must end with "
            "a user message.");
}

TEST(FakeRequest, GeminiCountsThePiecesOfATurnOnce) {
  EXPECT_EQ(gemini(R"([{"parts":[]}])"), "0");
  EXPECT_EQ(gemini(R"([{"role":"user","parts":[]},{"role":"model","parts":[]},
                       {"role":"model","parts":[]},{"role":"user","parts":[]},
                       {"role":"model","parts":[]},{"role":"user","parts":[]}])"),
            "2");
}

TEST(FakeRequest, WhatAVendorRefusesIsRefusedWithTheFieldsName) {
  auto chat_format = make_fake_chat();
  EXPECT_EQ(turn_in(*chat_format, "{}"), "Missing required parameter: 'model'.");
  EXPECT_EQ(turn_in(*chat_format, R"({"model":7})"),
            "Invalid type for 'model': expected the name of a model.");
  EXPECT_EQ(turn_in(*chat_format, R"({"model":"m"})"), "Missing required parameter: 'messages'.");
  EXPECT_EQ(chat("{}"), "Invalid type for 'messages': expected an array with at least one item.");
  EXPECT_EQ(chat("[]"), "Invalid type for 'messages': expected an array with at least one item.");
  EXPECT_EQ(chat("[7]"), "Invalid type for 'messages[0]': expected an object.");
  EXPECT_EQ(chat(R"([{"role":"robot"}])"),
            "Invalid type for 'messages[0].role': expected one of 'system', 'developer', 'user', "
            "'assistant' and 'tool'.");
  EXPECT_EQ(responses(R"("input":null)"), "Missing required parameter: 'input'.");
  EXPECT_EQ(turn_in(*make_fake_anthropic(), R"({"model":"m","messages":[{"role":"user"}]})"),
            "Missing required parameter: 'max_tokens'.");
  EXPECT_EQ(anthropic(R"([{"role":"tool"}])"),
            "Invalid type for 'messages[0].role': expected 'user' or 'assistant'.");
  EXPECT_EQ(gemini(R"([{"role":"assistant","parts":[]}])"),
            "Invalid type for 'contents[0].role': expected user or model.");
  EXPECT_EQ(gemini(R"([{"role":"user","parts":"hi"}])"),
            "Invalid type for 'contents[0].parts': expected an array.");
}

TEST(FakeRequest, ACallWithoutItsResultIsRefused) {
  std::string lacks_b = "No tool output found for function call b.";
  EXPECT_EQ(chat(R"([{"role":"user"},{"role":"assistant","tool_calls":[{"id":"a"},{"id":"b"}]},
                     {"role":"tool","tool_call_id":"a"}])"),
            lacks_b);
  EXPECT_EQ(chat(R"([{"role":"user"},{"role":"assistant","tool_calls":[{"id":"a"}]},
                     {"role":"tool","tool_call_id":"a"}])"),
            "1");
  EXPECT_EQ(responses(R"("input":[{"type":"function_call","call_id":"a"},
                          {"type":"function_call","call_id":"b"},
                          {"type":"function_call_output","call_id":"a"}])"),
            lacks_b);
  EXPECT_EQ(anthropic(R"([{"role":"user","content":"hi"},
                          {"role":"assistant","content":[{"type":"tool_use","id":"a"},
                                                         {"type":"tool_use","id":"b"}]},
                          {"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}])"),
            lacks_b);
  EXPECT_EQ(gemini(R"([{"role":"model","parts":[{"functionCall":{}},{"functionCall":{}}]},
                       {"role":"user","parts":[{"functionResponse":{}}]}])"),
            "Please ensure that the number of function response parts is equal to the number of "
            "function call parts of the function call turn.");
}

TEST(FakeRequest, ModelAndStreamingAreInTheBodyButForGemini) {
  FakeRequest expected{.model = "m", .turn = 0, .streams = true};
  auto body = object_of(
      R"({"model":"m","stream":true,"max_tokens":1,"messages":[{"role":"user"}],"input":"hi"})");
  EXPECT_EQ(*make_fake_chat()->read(body), expected);
  EXPECT_EQ(*make_fake_responses()->read(body), expected);
  EXPECT_EQ(*make_fake_anthropic()->read(body), expected);
}

}  // namespace
}  // namespace errand::llm::fake_request_test
