#include <gtest/gtest.h>

#include "llm/openai/responses_provider.hpp"
#include "llm/provider_block.hpp"
#include "support/decode_stream.hpp"
#include "support/question_with_files.hpp"

namespace errand::llm::responses_request_test {
namespace {

const BlockOrigin kOrigin{.provider = "openai-responses", .model = "m"};
constexpr std::string_view kReasoning =
    R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"})";
constexpr std::string_view kCall =
    R"({"type":"function_call","id":"fc_1","call_id":"call_1","name":"look","arguments":"{}",)"
    R"("caller":{"type":"direct"},"namespace":null})";
constexpr std::string_view kEnd =
    R"("store":false,"include":["reasoning.encrypted_content"],"stream":true})";

json::Value body_of(const ResponsesOptions& options, const std::vector<Message>& messages,
                    const std::vector<ToolDecl>& tools = {}) {
  TurnRequest request{.messages = share_messages(messages), .tools = share_decls(tools)};
  return parsed(ResponsesProvider(options).build(request).body);
}

// A turn that looked once, with these blocks, and what it saw.
std::vector<Message> looked(std::vector<std::string> blocks) {
  return {{.role = Role::user, .text = "Look"},
          {.role = Role::assistant,
           .text = "Well",
           .calls = {{tool_use("tu_1"), "call_1", "look", "{}"}},
           .provider_blocks = std::move(blocks)},
          {.role = Role::user, .results = {{tool_use("tu_1"), "call_1", "look", true, "seen"}}}};
}

TEST(ResponsesRequest, PlainWithTools) {
  TurnRequest question{.system_prompt = share_text("Be brief."),
                       .messages = share_messages({{.role = Role::user, .text = "Hi"}}),
                       .tools = share_decls({{.name = "stop", .description = "Stops."}})};
  ProviderRequest request = ResponsesProvider({.model = "m", .api_key = "k"}).build(question);
  EXPECT_EQ(request.path, "/v1/responses");
  EXPECT_EQ(request.headers, (HeaderList{{"content-type", "application/json"},
                                         {"accept", "text/event-stream"},
                                         {"authorization", "Bearer k"}}));
  EXPECT_EQ(parsed(request.body),
            parsed(cat(R"({"model":"m","input":[{"role":"user","content":"Hi"}],
              "instructions":"Be brief.","tools":[{"type":"function","name":"stop",
              "description":"Stops.","parameters":{"type":"object","properties":{}},
              "strict":false}],)",
                       kEnd)));
}

TEST(ResponsesRequest, ATurnOfTheSameModelGoesBackAsItCame) {
  EXPECT_EQ(
      body_of({.model = "m"}, looked({tag_block(kOrigin, kReasoning), tag_block(kOrigin, kCall)})),
      parsed(cat(R"({"model":"m","input":[{"role":"user","content":"Look"},)", kReasoning, ",",
                 kCall, R"(,{"type":"function_call_output","call_id":"call_1",
                       "output":"seen","caller":{"type":"direct"}}],)",
                 kEnd)));
}

TEST(ResponsesRequest, ATurnOfAnotherModelIsToldInNeutralParts) {
  json::Value neutral = parsed(cat(R"({"model":"m","input":[{"role":"user","content":"Look"},
      {"role":"assistant","content":[{"type":"output_text","text":"Well"}]},
      {"type":"function_call","call_id":"call_1","name":"look","arguments":"{}"},
      {"type":"function_call_output","call_id":"call_1","output":"seen"}],)",
                                   kEnd));
  BlockOrigin sibling{.provider = "openai-responses", .model = "m2"};
  EXPECT_EQ(body_of({.model = "m"}, looked({})), neutral);
  EXPECT_EQ(body_of({.model = "m"}, looked({tag_block(sibling, kReasoning)})), neutral);
  EXPECT_EQ(
      body_of({.model = "m"}, looked({tag_block(kOrigin, kReasoning), tag_block(sibling, kCall)})),
      neutral);
}

TEST(ResponsesRequest, ReasoningThatLedNowhereIsLeftOut) {
  std::vector<Message> messages = {
      {.role = Role::user, .text = "Hi"},
      {.role = Role::assistant, .provider_blocks = {tag_block(kOrigin, kReasoning)}},
      {.role = Role::user, .text = "Again"}};
  EXPECT_EQ(body_of({.model = "m"}, messages),
            parsed(cat(R"({"model":"m","input":[{"role":"user","content":"Hi"},
              {"role":"user","content":"Again"}],)",
                       kEnd)));
}

TEST(ResponsesRequest, ReasoningLimitAndOutputSchema) {
  TurnRequest request{.output_schema = schema(R"({"type":"object"})"),
                      .output_name = "report",
                      .reasoning_level = 80,
                      .output_tokens_max = 500};
  ResponsesProvider provider({.model = "m", .effort_min = "none"});
  EXPECT_EQ(parsed(provider.build(request).body),
            parsed(cat(R"({"model":"m","input":[],"text":{"format":{"type":"json_schema",
              "name":"report","schema":{"type":"object"},"strict":false}},
              "reasoning":{"effort":"high","summary":"auto"},"max_output_tokens":500,)",
                       kEnd)));
  request.tools_off = true;
  ResponsesProvider by_tool({.model = "m", .output = OutputMechanism::answer_tool});
  EXPECT_EQ(parsed(by_tool.build(request).body).at("tool_choice"),
            parsed(R"({"type":"function","name":"final_report"})"));
  request.tools_off = false;
  request.output_schema = nullptr;
  request.reasoning_level = 0;
  EXPECT_EQ(parsed(provider.build(request).body),
            parsed(cat(R"({"model":"m","input":[],"reasoning":{"effort":"none"},
              "max_output_tokens":500,)",
                       kEnd)));
}

TEST(ResponsesRequest, FilesFollowTheTextOfTheUser) {
  json::Value body = parsed(ResponsesProvider({.model = "m"}).build(attached_files()).body);
  EXPECT_EQ(body.at("input"), parsed(cat(R"([{"role":"user","content":[
      {"type":"input_text","text":"Look"},
      {"type":"input_image","image_url":"data:image/png;base64,YS5wbmc="},
      {"type":"input_file","filename":"b.pdf","file_data":"data:application/pdf;base64,Yi5wZGY="},
      {"type":"input_text","text":"The file \"c.txt\" (text/plain, 5 bytes):\n\nc.txt"},
      {"type":"input_text","text":"The file \"d.json\" (application/json, 6 bytes):\n\nd.json"},
      {"type":"input_text","text":")",
                                         kZipNote, R"("},
      {"type":"input_image","image_url":"https://a.b/f"},
      {"type":"input_file","file_url":"https://a.b/g.PDF?h"}]}])")));
}

TEST(ResponsesRequest, FilesOfAResultArePartOfIt) {
  json::Value body = parsed(ResponsesProvider({.model = "m"}).build(files_of_a_result()).body);
  EXPECT_EQ(body.at("input").as_array().back(),
            parsed(cat(R"({"type":"function_call_output","call_id":"call_1","output":[
      {"type":"input_text","text":"seen"},
      {"type":"input_image","image_url":"data:image/png;base64,YS5wbmc="},
      {"type":"input_text","text":")",
                       kZipNote, R"("}]})")));
}

}  // namespace
}  // namespace errand::llm::responses_request_test
