#include <gtest/gtest.h>

#include "llm/anthropic/anthropic_provider.hpp"
#include "llm/anthropic/wire.hpp"
#include "llm/provider_block.hpp"
#include "support/decode_stream.hpp"
#include "support/question.hpp"
#include "support/question_with_files.hpp"

namespace errand::llm::anthropic_request_test {
namespace {

const BlockOrigin kOrigin{.provider = "anthropic", .model = "m"};
constexpr std::string_view kThought = R"({"type":"thinking","thinking":"Hm","signature":"c2ln"})";
constexpr std::string_view kUse =
    R"({"type":"tool_use","id":"toolu_1","name":"look","input":{"at":1},)"
    R"("caller":{"type":"direct"}})";
constexpr std::string_view kClosed =
    R"({"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false})";

json::Value body_of(const AnthropicOptions& options, const TurnRequest& request) {
  return parsed(AnthropicProvider(options).build(request).body);
}

// A turn that looked once, with these blocks; then its result, and more from the user.
Question looked(std::vector<std::string> blocks, std::string provider_id) {
  return {.messages = {{.role = Role::user, .text = "Look"},
                       {.role = Role::assistant,
                        .text = "Well",
                        .calls = {{tool_use("tu_1"), provider_id, "look", R"({"at":1})"}},
                        .provider_blocks = std::move(blocks)},
                       {.role = Role::user,
                        .results = {{tool_use("tu_1"), provider_id, "look", false, "dark"}}},
                       {.role = Role::user, .text = "Go on"}}};
}

TEST(AnthropicRequest, PlainWithToolsAndSystemMessages) {
  Question question{.system_prompt = "Be brief.",
                    .messages = {{.role = Role::system, .text = "Be kind."},
                                 {.role = Role::user, .text = "Hi"},
                                 {.role = Role::assistant, .text = " "},
                                 {.role = Role::user, .text = "There?"}},
                    .tools = {{.name = "stop", .description = "Stops."}}};
  ProviderRequest request =
      AnthropicProvider({.model = "m", .api_key = "k"}).build(question.request());
  EXPECT_EQ(request.path, "/v1/messages");
  EXPECT_EQ(request.headers, (HeaderList{{"content-type", "application/json"},
                                         {"accept", "text/event-stream"},
                                         {"anthropic-version", "2023-06-01"},
                                         {"x-api-key", "k"}}));
  EXPECT_EQ(parsed(request.body), parsed(R"({"model":"m","max_tokens":16384,
      "system":"Be brief.\n\nBe kind.",
      "messages":[{"role":"user","content":[{"type":"text","text":"Hi"},
        {"type":"text","text":"There?"}]}],
      "tools":[{"name":"stop","description":"Stops.","input_schema":{"type":"object"}}],
      "stream":true})"));
}

TEST(AnthropicRequest, ATurnOfTheSameModelGoesBackAsItCame) {
  Question question = looked({tag_block(kOrigin, kThought), tag_block(kOrigin, kUse)}, "toolu_1");
  TurnRequest request = question.request();
  request.reasoning_level = 80;
  EXPECT_EQ(body_of({.model = "m"}, request),
            parsed(cat(R"({"model":"m","max_tokens":16384,"messages":[
      {"role":"user","content":[{"type":"text","text":"Look"}]},
      {"role":"assistant","content":[)",
                       kThought, ",", kUse, R"(]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"dark",
        "is_error":true},{"type":"text","text":"Go on"}]}],
      "thinking":{"type":"enabled","budget_tokens":8000},"stream":true})")));
}

TEST(AnthropicRequest, ATurnOfAnotherModelIsToldInNeutralPartsAndWithoutThinking) {
  BlockOrigin other{.provider = "gemini", .model = "m"};
  Question question = looked({tag_block(other, R"({"text":"x"})")}, "functions.look:0");
  TurnRequest request = question.request();
  request.reasoning_level = 80;
  EXPECT_EQ(body_of({.model = "m"}, request), parsed(R"({"model":"m","max_tokens":16384,"messages":[
      {"role":"user","content":[{"type":"text","text":"Look"}]},
      {"role":"assistant","content":[{"type":"text","text":"Well"},
        {"type":"tool_use","id":"tu_1","name":"look","input":{"at":1}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"tu_1","content":"dark",
        "is_error":true},{"type":"text","text":"Go on"}]}],"stream":true})"));
}

TEST(AnthropicRequest, AFrozenTurnEndsWithItsLastClosedCall) {
  Question question =
      looked({tag_block(kOrigin, kThought), tag_block(kOrigin, kUse), tag_block(kOrigin, kThought)},
             "toolu_1");
  EXPECT_EQ(body_of({.model = "m"}, question.request()).at("messages").as_array()[1],
            parsed(cat(R"({"role":"assistant","content":[)", kThought, ",", kUse, "]}")));
}

TEST(AnthropicRequest, AdaptiveThinking) {
  Question question;
  TurnRequest request = question.request();
  request.reasoning_level = 50;
  request.output_tokens_max = 99;
  EXPECT_EQ(body_of({.model = "m", .thinking = AnthropicThinking::adaptive}, request),
            parsed(R"({"model":"m","max_tokens":99,"messages":[],
              "thinking":{"type":"adaptive","display":"summarized"},
              "output_config":{"effort":"medium"},"stream":true})"));
  request.reasoning_level = 0;
  EXPECT_EQ(body_of({.model = "m", .thinking = AnthropicThinking::adaptive}, request),
            parsed(R"({"model":"m","max_tokens":99,"messages":[],
              "thinking":{"type":"disabled"},"stream":true})"));
}

TEST(AnthropicRequest, ThinkingBudgetsHaveAFloorAndLeaveRoom) {
  EXPECT_EQ(thinking_budget(1, 16384), 1024);
  EXPECT_EQ(thinking_budget(30, 16384), 1024);
  EXPECT_EQ(thinking_budget(80, 16384), 8000);
  EXPECT_EQ(thinking_budget(100, 16384), 10995);
  EXPECT_EQ(thinking_budget(80, 4000), 3999);
  EXPECT_EQ(thinking_budget(80, 1024), std::nullopt);
}

TEST(AnthropicRequest, OutputSchemaByEachMechanism) {
  Question question;
  TurnRequest request = question.request();
  request.output_schema = schema(kClosed);
  std::string answer =
      cat(R"({"name":"final_report","description":"Hands in the final answer. Call it once, )",
          R"(when everything else is done.","input_schema":)", kClosed, "}");
  EXPECT_EQ(body_of({.model = "m"}, request),
            parsed(cat(R"({"model":"m","max_tokens":16384,"messages":[],"tools":[)", answer,
                       R"(],"tool_choice":{"type":"tool","name":"final_report"},"stream":true})")));
  EXPECT_EQ(body_of({.model = "m", .output = OutputMechanism::native}, request),
            parsed(cat(R"({"model":"m","max_tokens":16384,"messages":[],"output_config":
              {"format":{"type":"json_schema","schema":)",
                       kClosed, R"(}},"stream":true})")));
  request.output_schema = schema(R"({"type":"object"})");
  EXPECT_EQ(body_of({.model = "m", .output = OutputMechanism::plain}, request),
            parsed(R"({"model":"m","max_tokens":16384,"messages":[],"system":
              "Give the final answer as JSON of this JSON Schema, and nothing else: )"
                   R"({\"type\":\"object\"}","stream":true})"));
}

TEST(AnthropicRequest, TheAnswerToolIsNotForcedOnAModelThatThinks) {
  Question question{.tools = {{.name = "stop"}}};
  TurnRequest request = question.request();
  request.output_schema = schema(kClosed);
  json::Object body = body_of({.model = "m"}, request).as_object();
  EXPECT_EQ(body.at("tool_choice"), parsed(R"({"type":"any"})"));
  request.tools_off = true;
  body = body_of({.model = "m"}, request).as_object();
  EXPECT_EQ(body.at("tool_choice"), parsed(R"({"type":"tool","name":"final_report"})"));
  request.reasoning_level = 50;
  EXPECT_FALSE(body_of({.model = "m"}, request).as_object().contains("tool_choice"));
}

TEST(AnthropicRequest, NativeOutputOutsideTheSubsetGoesByTheTool) {
  EXPECT_TRUE(fits_anthropic_subset(parsed(kClosed).as_object()));
  EXPECT_FALSE(fits_anthropic_subset(parsed(R"({"type":"object"})").as_object()));
  EXPECT_FALSE(fits_anthropic_subset(
      parsed(R"({"type":"object","additionalProperties":false,"properties":{"a":{"pattern":"x"}}})")
          .as_object()));
  TurnRequest request = any_request();
  request.output_schema = schema(R"({"type":"object"})");
  EXPECT_EQ(anthropic_output(request, {.output = OutputMechanism::native}),
            OutputMechanism::answer_tool);
}

TEST(AnthropicErrors, TypesAndStatuses) {
  AnthropicProvider provider({.model = "m"});
  auto of = [&](int status, std::string_view error, HeaderList headers = {}) {
    std::string body = cat(R"({"type":"error","error":{)", error, R"(},"request_id":"r"})");
    return verdict(provider.classify({.status = status, .headers = headers, .body = body}));
  };
  EXPECT_EQ(of(400, R"("type":"invalid_request_error","message":"no")"),
            "invalid_request final 400 invalid_request_error -");
  EXPECT_EQ(
      of(400,
         R"("type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum")"),
      "context_window final 400 invalid_request_error -");
  EXPECT_EQ(of(401, R"("type":"authentication_error")"), "auth final 401 authentication_error -");
  EXPECT_EQ(of(402, R"("type":"billing_error")"), "quota final 402 billing_error -");
  EXPECT_EQ(of(403, R"("type":"permission_error")"), "auth final 403 permission_error -");
  EXPECT_EQ(of(413, R"("type":"request_too_large")"),
            "invalid_request final 413 request_too_large -");
  EXPECT_EQ(of(429, R"("type":"rate_limit_error")", {{"retry-after", "30"}}),
            "rate_limit retryable 429 rate_limit_error 30000ms");
  EXPECT_EQ(of(429, R"("type":"rate_limit_error","details":{"error_code":"ramp_limit_exceeded"})"),
            "rate_limit retryable 429 ramp_limit_exceeded -");
  EXPECT_EQ(
      of(429,
         R"("type":"rate_limit_error","details":{"error_code":"enforced_spend_limit_reached"})"),
      "quota final 429 enforced_spend_limit_reached -");
  EXPECT_EQ(of(500, R"("type":"api_error")"), "server retryable 500 api_error -");
  EXPECT_EQ(of(504, R"("type":"timeout_error")"), "timeout retryable 504 timeout_error -");
  EXPECT_EQ(of(529, R"("type":"overloaded_error")"), "overloaded retryable 529 overloaded_error -");
  EXPECT_EQ(of(200, R"("type":"overloaded_error")"), "overloaded retryable 0 overloaded_error -");
  EXPECT_EQ(verdict(provider.classify({.status = 529, .body = "<html>"})),
            "overloaded retryable 529  -");
}

TEST(AnthropicRequest, FilesFollowTheTextOfTheUser) {
  json::Value body = body_of({.model = "m"}, attached_files());
  EXPECT_EQ(body.at("messages"), parsed(cat(R"([{"role":"user","content":[
      {"type":"text","text":"Look"},
      {"type":"image","source":{"type":"base64","media_type":"image/png","data":"YS5wbmc="}},
      {"type":"document","source":{"type":"base64","media_type":"application/pdf",
        "data":"Yi5wZGY="},"title":"b.pdf"},
      {"type":"document","source":{"type":"text","media_type":"text/plain","data":"c.txt"},
        "title":"c.txt"},
      {"type":"document","source":{"type":"text","media_type":"text/plain","data":"d.json"},
        "title":"d.json"},
      {"type":"text","text":")",
                                            kZipNote, R"("},
      {"type":"image","source":{"type":"url","url":"https://a.b/f"}},
      {"type":"document","source":{"type":"url","url":"https://a.b/g.PDF?h"}}]}])")));
}

TEST(AnthropicRequest, FilesOfAResultArePartOfIt) {
  json::Value body = body_of({.model = "m"}, files_of_a_result());
  EXPECT_EQ(body.at("messages").as_array().back(), parsed(cat(R"({"role":"user","content":[
      {"type":"tool_result","tool_use_id":"call_1","content":[
        {"type":"text","text":"seen"},
        {"type":"image","source":{"type":"base64","media_type":"image/png","data":"YS5wbmc="}},
        {"type":"text","text":")",
                                                              kZipNote, R"("}]}]})")));
}

}  // namespace
}  // namespace errand::llm::anthropic_request_test
