#include <gtest/gtest.h>

#include "llm/gemini/gemini_provider.hpp"
#include "llm/provider_block.hpp"
#include "support/decode_stream.hpp"
#include "support/question.hpp"
#include "support/question_with_files.hpp"

namespace errand::llm::gemini_request_test {
namespace {

const BlockOrigin kOrigin{.provider = "gemini", .model = "m"};
constexpr std::string_view kSigned =
    R"({"functionCall":{"id":"f1","name":"look","args":{"at":1}},"thoughtSignature":"c2ln"})";
constexpr std::string_view kBare = R"({"functionCall":{"name":"stop"}})";

json::Value body_of(const GeminiOptions& options, const TurnRequest& request) {
  return parsed(GeminiProvider(options).build(request).body);
}

// A turn with two calls, the second without an id of the vendor's, and their results.
Question called(std::vector<std::string> blocks) {
  return {.messages = {{.role = Role::user, .text = "Look"},
                       {.role = Role::assistant,
                        .text = "Well",
                        .calls = {{tool_use("tu_1"), "f1", "look", R"({"at":1})"},
                                  {tool_use("tu_2"), "", "stop", "[oops"}},
                        .provider_blocks = std::move(blocks)},
                       {.role = Role::user,
                        .results = {{tool_use("tu_1"), "f1", "look", true, "seen"},
                                    {tool_use("tu_2"), "", "stop", false, "no"}}}}};
}

TEST(GeminiRequest, PlainWithToolsAndSystemMessages) {
  Question question{
      .system_prompt = "Be brief.",
      .messages = {{.role = Role::system, .text = "Be kind."}, {.role = Role::user, .text = "Hi"}},
      .tools = {
          {.name = "look",
           .description = "Looks.",
           .input_schema = schema(R"({"type":"object","properties":{"at":{"type":"string"}}})"),
           .output_schema = schema(R"({"type":"object"})")},
          {.name = "stop"}}};
  ProviderRequest request =
      GeminiProvider({.model = "gemini-x", .api_key = "k"}).build(question.request());
  EXPECT_EQ(request.path, "/v1beta/models/gemini-x:streamGenerateContent?alt=sse");
  EXPECT_EQ(request.headers, (HeaderList{{"content-type", "application/json"},
                                         {"accept", "text/event-stream"},
                                         {"x-goog-api-key", "k"}}));
  EXPECT_EQ(parsed(request.body), parsed(R"({"contents":[{"role":"user","parts":[{"text":"Hi"}]}],
      "systemInstruction":{"parts":[{"text":"Be brief.\n\nBe kind."}]},
      "tools":[{"functionDeclarations":[
        {"name":"look","description":"Looks.","parametersJsonSchema":
          {"type":"object","properties":{"at":{"type":"string"}}},
         "responseJsonSchema":{"type":"object"}},
        {"name":"stop","description":""}]}]})"));
}

TEST(GeminiRequest, ATurnOfTheSameModelGoesBackAsItCame) {
  Question question = called({tag_block(kOrigin, kSigned), tag_block(kOrigin, kBare)});
  EXPECT_EQ(body_of({.model = "m"}, question.request()),
            parsed(cat(R"({"contents":[{"role":"user","parts":[{"text":"Look"}]},
      {"role":"model","parts":[)",
                       kSigned, ",", kBare, R"(]},
      {"role":"user","parts":[
        {"functionResponse":{"name":"look","response":{"output":"seen"},"id":"f1"}},
        {"functionResponse":{"name":"stop","response":{"error":"no"}}}]}]})")));
}

TEST(GeminiRequest, OnlyAFirstCallThatHasNoSignatureGetsOne) {
  GeminiOptions options{.model = "m", .unsigned_call_signature = "skip"};
  auto turn = [&](std::string_view first, std::string_view second) {
    Question question = called({tag_block(kOrigin, first), tag_block(kOrigin, second)});
    return body_of(options, question.request()).at_pointer("/contents/1/parts");
  };
  EXPECT_EQ(turn(kSigned, kBare), parsed(cat("[", kSigned, ",", kBare, "]")));
  json::Value signed_bare = parsed(kBare);
  signed_bare.as_object()["thoughtSignature"] = "skip";
  EXPECT_EQ(turn(kBare, kBare), json::Value(json::Array{signed_bare, parsed(kBare)}));
}

TEST(GeminiRequest, ATurnOfAnotherModelIsToldInNeutralPartsWithoutIds) {
  BlockOrigin sibling{.provider = "gemini", .model = "m2"};
  Question question = called({tag_block(sibling, kSigned), tag_block(sibling, kBare)});
  EXPECT_EQ(body_of({.model = "m", .unsigned_call_signature = "skip"}, question.request()),
            parsed(R"({"contents":[{"role":"user","parts":[{"text":"Look"}]},
      {"role":"model","parts":[{"text":"Well"},
        {"functionCall":{"name":"look","args":{"at":1}},"thoughtSignature":"skip"},
        {"functionCall":{"name":"stop","args":{}}}]},
      {"role":"user","parts":[
        {"functionResponse":{"name":"look","response":{"output":"seen"}}},
        {"functionResponse":{"name":"stop","response":{"error":"no"}}}]}]})"));
}

TEST(GeminiRequest, ReasoningByLevelAndByBudget) {
  Question question;
  TurnRequest request = question.request();
  auto config = [&](const GeminiOptions& options, int level) {
    request.reasoning_level = level;
    return body_of(options, request).at("generationConfig").at("thinkingConfig");
  };
  GeminiOptions by_level{.model = "m"};
  EXPECT_EQ(config(by_level, 0), parsed(R"({"includeThoughts":false,"thinkingLevel":"MINIMAL"})"));
  EXPECT_EQ(config(by_level, 30), parsed(R"({"includeThoughts":true,"thinkingLevel":"LOW"})"));
  EXPECT_EQ(config(by_level, 50), parsed(R"({"includeThoughts":true,"thinkingLevel":"MEDIUM"})"));
  EXPECT_EQ(config(by_level, 80), parsed(R"({"includeThoughts":true,"thinkingLevel":"HIGH"})"));
  GeminiOptions by_budget{
      .model = "m", .thinking = GeminiThinking::budget, .thinking_budget_min = 128};
  EXPECT_EQ(config(by_budget, 0), parsed(R"({"includeThoughts":false,"thinkingBudget":128})"));
  EXPECT_EQ(config(by_budget, 50), parsed(R"({"includeThoughts":true,"thinkingBudget":12288})"));
}

TEST(GeminiRequest, OutputSchemaNativelyOrByTheToolBesideOthers) {
  Question question;
  TurnRequest request = question.request();
  request.output_schema = schema(R"({"type":"object","properties":{"a":{}}})");
  request.output_tokens_max = 70;
  EXPECT_EQ(body_of({.model = "m"}, request),
            parsed(R"({"contents":[],"generationConfig":{"maxOutputTokens":70,
              "responseMimeType":"application/json",
              "responseJsonSchema":{"type":"object","properties":{"a":{}}}}})"));
  Question with_tools{.tools = {{.name = "stop"}}};
  TurnRequest beside = with_tools.request();
  beside.output_schema = request.output_schema;
  EXPECT_EQ(body_of({.model = "m"}, beside),
            parsed(R"({"contents":[],"tools":[{"functionDeclarations":[
              {"name":"stop","description":""},
              {"name":"final_report","description":)"
                   R"("Hands in the final answer. Call it once, when everything else is done.",
               "parametersJsonSchema":{"type":"object","properties":{"a":{}}}}]}],
              "toolConfig":{"functionCallingConfig":{"mode":"ANY"}}})"));
  beside.tools_off = true;
  EXPECT_EQ(body_of({.model = "m"}, beside).at("toolConfig"),
            parsed(R"({"functionCallingConfig":{"mode":"ANY",
              "allowedFunctionNames":["final_report"]}})"));
}

TEST(GeminiErrors, WordsAndStatuses) {
  GeminiProvider provider({.model = "m"});
  auto of = [&](int status, std::string_view error) {
    std::string body = cat(R"({"error":{"code":)", status, ",", error, "}}");
    return verdict(provider.classify({.status = status, .body = body}));
  };
  EXPECT_EQ(of(400, R"("message":"no","status":"INVALID_ARGUMENT")"),
            "invalid_request final 400 INVALID_ARGUMENT -");
  EXPECT_EQ(
      of(400,
         R"("message":"key","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}])"),
      "auth final 400 INVALID_ARGUMENT -");
  EXPECT_EQ(of(400, R"("message":"The input token count (9) exceeds the maximum",)"
                    R"("status":"INVALID_ARGUMENT")"),
            "context_window final 400 INVALID_ARGUMENT -");
  EXPECT_EQ(of(403, R"("status":"PERMISSION_DENIED")"), "auth final 403 PERMISSION_DENIED -");
  EXPECT_EQ(of(429, R"("status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"39s"}])"),
            "rate_limit retryable 429 RESOURCE_EXHAUSTED 39000ms");
  EXPECT_EQ(of(500, R"("status":"INTERNAL")"), "server retryable 500 INTERNAL -");
  EXPECT_EQ(of(503, R"("status":"UNAVAILABLE")"), "overloaded retryable 503 UNAVAILABLE -");
  EXPECT_EQ(of(504, R"("status":"DEADLINE_EXCEEDED")"),
            "timeout retryable 504 DEADLINE_EXCEEDED -");
  EXPECT_EQ(
      verdict(provider.classify(
          {.status = 429, .body = R"([{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}])"})),
      "rate_limit retryable 429 RESOURCE_EXHAUSTED -");
  EXPECT_EQ(verdict(provider.classify({.status = 200, .body = R"({"error":{"code":503}})"})),
            "overloaded retryable 503  -");
  EXPECT_EQ(verdict(provider.classify({.status = 502, .body = "<html>"})),
            "server retryable 502  -");
}

TEST(GeminiRequest, FilesFollowTheTextOfTheUser) {
  json::Value body = body_of({.model = "m"}, attached_files());
  EXPECT_EQ(body.at("contents"), parsed(cat(R"([{"role":"user","parts":[
      {"text":"Look"},
      {"inlineData":{"mimeType":"image/png","data":"YS5wbmc="}},
      {"inlineData":{"mimeType":"application/pdf","data":"Yi5wZGY="}},
      {"inlineData":{"mimeType":"text/plain","data":"Yy50eHQ="}},
      {"text":"The file \"d.json\" (application/json, 6 bytes):\n\nd.json"},
      {"text":")",
                                            kZipNote, R"("},
      {"fileData":{"fileUri":"https://a.b/f","mimeType":"image/png"}},
      {"fileData":{"fileUri":"https://a.b/g.PDF?h"}}]}])")));
}

TEST(GeminiRequest, FilesOfAResultFollowIt) {
  json::Value body = body_of({.model = "m"}, files_of_a_result());
  json::Array contents = body.at("contents").as_array();
  ASSERT_EQ(contents.size(), 4U);
  EXPECT_EQ(contents[2], parsed(R"({"role":"user","parts":[
      {"functionResponse":{"name":"look","response":{"output":"seen"}}}]})"));
  EXPECT_EQ(contents[3], parsed(cat(R"({"role":"user","parts":[
      {"text":"Files from the result of look:"},
      {"inlineData":{"mimeType":"image/png","data":"YS5wbmc="}},
      {"text":")",
                                    kZipNote, R"("}]})")));
}

}  // namespace
}  // namespace errand::llm::gemini_request_test
