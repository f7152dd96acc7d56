#include <gtest/gtest.h>

#include "llm/openai/chat_provider.hpp"
#include "llm/openai/schemas.hpp"
#include "support/decode_stream.hpp"
#include "support/question.hpp"
#include "support/question_with_files.hpp"

namespace errand::llm::chat_request_test {
namespace {

json::Value body_of(const ChatOptions& options, const TurnRequest& request) {
  return parsed(ChatProvider(options).build(request).body);
}

Question hello() {
  return {.system_prompt = "Be brief.", .messages = {{.role = Role::user, .text = "Hi"}}};
}

constexpr std::string_view kClosed =
    R"({"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],)"
    R"("additionalProperties":false})";

TEST(ChatRequest, Plain) {
  Question question = hello();
  ProviderRequest request =
      ChatProvider({.model = "m", .api_key = "k", .headers = {{"x-title", "t"}}})
          .build(question.request());
  EXPECT_EQ(request.path, "/v1/chat/completions");
  EXPECT_EQ(request.headers, (HeaderList{{"content-type", "application/json"},
                                         {"accept", "text/event-stream"},
                                         {"authorization", "Bearer k"},
                                         {"x-title", "t"}}));
  EXPECT_EQ(parsed(request.body),
            parsed(R"({"model":"m","messages":[{"role":"system","content":"Be brief."},
                     {"role":"user","content":"Hi"}],
                     "stream":true,"stream_options":{"include_usage":true}})"));
}

TEST(ChatRequest, SwitchesOfCompatibleServers) {
  Question question = hello();
  TurnRequest request = question.request();
  request.reasoning_level = 0;
  EXPECT_EQ(body_of({.model = "m",
                     .output_tokens_max = 100,
                     .effort_min = "minimal",
                     .limit_field = "max_tokens",
                     .system_role = "developer",
                     .asks_for_usage = false},
                    request),
            parsed(R"({"model":"m","messages":[{"role":"developer","content":"Be brief."},
                     {"role":"user","content":"Hi"}],"max_tokens":100,
                     "reasoning_effort":"minimal","stream":true})"));
}

TEST(ChatRequest, ToolsAndTheirResults) {
  Question question{
      .system_prompt = "",
      .messages = {{.role = Role::user, .text = "Look"},
                   {.role = Role::assistant,
                    .text = "",
                    .calls = {{tool_use("tu_1"), "c1", "look", R"({"at":"x"})"},
                              {tool_use("tu_2"), "", "stop", "{}"}},
                    .provider_blocks = {R"({"provider":"anthropic","model":"m","block":{}})"}},
                   {.role = Role::user,
                    .results = {{tool_use("tu_1"), "c1", "look", true, "seen"},
                                {tool_use("tu_2"), "", "stop", false, "no"}}},
                   {.role = Role::assistant, .text = ""},
                   {.role = Role::system, .text = "Hurry."}},
      .tools = {{.name = "look", .description = "Looks.", .input_schema = schema(R"(
                   {"type":"object","properties":{"at":{"type":"string","maxLength":5000}}})")},
                {.name = "stop"}}};
  EXPECT_EQ(body_of({.model = "m", .asks_for_usage = false, .schema_length_max = 1000},
                    question.request()),
            parsed(R"({"model":"m","messages":[
              {"role":"user","content":"Look"},
              {"role":"assistant","content":null,"tool_calls":[
                {"id":"c1","type":"function",
                 "function":{"name":"look","arguments":"{\"at\":\"x\"}"}},
                {"id":"tu_2","type":"function","function":{"name":"stop","arguments":"{}"}}]},
              {"role":"tool","tool_call_id":"c1","content":"seen"},
              {"role":"tool","tool_call_id":"tu_2","content":"Error: no"},
              {"role":"system","content":"Hurry."}],
              "tools":[
              {"type":"function","function":{"name":"look","description":"Looks.",
                "parameters":{"type":"object","properties":{"at":{"type":"string"}}}}},
              {"type":"function","function":{"name":"stop","description":"",
                "parameters":{"type":"object","properties":{}}}}],
              "stream":true})"));
}

TEST(ChatRequest, OutputSchemaByEachMechanism) {
  Question question = hello();
  question.system_prompt.clear();
  TurnRequest request = question.request();
  request.output_schema = schema(kClosed);
  request.output_name = "report";
  EXPECT_EQ(body_of({.model = "m", .asks_for_usage = false}, request),
            parsed(cat(R"({"model":"m","messages":[{"role":"user","content":"Hi"}],
                     "response_format":{"type":"json_schema","json_schema":{"name":"report",
                     "schema":)",
                       kClosed, R"(,"strict":true}},"stream":true})")));
  EXPECT_EQ(body_of({.model = "m", .output = OutputMechanism::answer_tool, .asks_for_usage = false},
                    request),
            parsed(cat(R"({"model":"m","messages":[{"role":"user","content":"Hi"}],
                     "tool_choice":"required","tools":[{"type":"function","function":{
                     "name":"final_report","description":)",
                       R"("Hands in the final answer. Call it once, when everything else is done.",
                     "parameters":)",
                       kClosed, R"(}}],"stream":true})")));
  request.tools_off = true;
  EXPECT_EQ(
      body_of({.model = "m", .output = OutputMechanism::answer_tool}, request).at("tool_choice"),
      parsed(R"({"type":"function","function":{"name":"final_report"}})"));
  request.tools_off = false;
  request.output_schema = schema(R"({"type":"object"})");
  EXPECT_EQ(
      body_of({.model = "m", .output = OutputMechanism::plain, .asks_for_usage = false}, request),
      parsed(R"({"model":"m","messages":[{"role":"system","content":
                     "Give the final answer as JSON of this JSON Schema, and nothing else: )"
             R"({\"type\":\"object\"}"},
                     {"role":"user","content":"Hi"}],"stream":true})"));
}

TEST(ChatRequest, FreeTextThatIsToBeJsonIsHeldToItUnlessToolsMayBeCalled) {
  Question question = hello();
  TurnRequest request = question.request();
  request.is_json = true;
  ChatProvider provider({.model = "m"});
  EXPECT_EQ(body_of({.model = "m"}, request).at("response_format"),
            parsed(R"({"type":"json_object"})"));
  EXPECT_TRUE(provider.build(request).holds_to_json);
  request.tools = share_decls({ToolDecl{.name = "look"}});
  EXPECT_FALSE(body_of({.model = "m"}, request).as_object().contains("response_format"));
  EXPECT_FALSE(provider.build(request).holds_to_json);
  request.tools_off = true;
  EXPECT_TRUE(provider.build(request).holds_to_json);
}

TEST(ChatRequest, ReasoningLevelsBecomeEfforts) {
  EXPECT_EQ(effort_of(0, "none"), "none");
  EXPECT_EQ(effort_of(1, "none"), "low");
  EXPECT_EQ(effort_of(35, "none"), "low");
  EXPECT_EQ(effort_of(36, "none"), "medium");
  EXPECT_EQ(effort_of(65, "none"), "medium");
  EXPECT_EQ(effort_of(66, "none"), "high");
}

TEST(StrictSubset, TakesClosedObjectsOnly) {
  auto fits = [](std::string_view text) { return fits_strict_subset(parsed(text).as_object()); };
  EXPECT_TRUE(fits(kClosed));
  EXPECT_TRUE(fits(R"({"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"required":["a"],
                       "additionalProperties":false,"$defs":{"b":{"anyOf":[{"type":"string"},
                       {"type":"array","items":{"$ref":"#/$defs/b"}}]}}})"));
  EXPECT_FALSE(fits(R"({"type":"array","items":{"type":"string"}})"));
  EXPECT_FALSE(fits(R"({"type":"object"})"));
  EXPECT_FALSE(fits(R"({"type":"object","properties":{"a":{}},"additionalProperties":false})"));
  EXPECT_FALSE(fits(R"({"type":"object","properties":{"a":{"not":{}}},"required":["a"],
                        "additionalProperties":false})"));
  EXPECT_FALSE(fits(R"({"type":"object","properties":{"a":{"type":"array","items":
                        {"type":"object"}}},"required":["a"],"additionalProperties":false})"));
  EXPECT_FALSE(fits(R"({"type":"object","properties":{"a":{"$ref":"http://x/y"}},"required":["a"],
                        "additionalProperties":false})"));
}

TEST(ChatRequest, FilesFollowTheTextOfTheUser) {
  json::Value body = body_of({.model = "m"}, attached_files());
  EXPECT_EQ(body.at("messages"), parsed(cat(R"([{"role":"user","content":[
      {"type":"text","text":"Look"},
      {"type":"image_url","image_url":{"url":"data:image/png;base64,YS5wbmc="}},
      {"type":"file","file":{"filename":"b.pdf",
                             "file_data":"data:application/pdf;base64,Yi5wZGY="}},
      {"type":"text","text":"The file \"c.txt\" (text/plain, 5 bytes):\n\nc.txt"},
      {"type":"text","text":"The file \"d.json\" (application/json, 6 bytes):\n\nd.json"},
      {"type":"text","text":")",
                                            kZipNote,
                                            R"("},
      {"type":"image_url","image_url":{"url":"https://a.b/f"}},
      {"type":"text","text":"[The file \"https://a.b/g.PDF?h\" is not shown: )"
                                            R"(this model cannot be given files of )"
                                            R"(this type.]"}]}])")));
}

TEST(ChatRequest, FilesOfAResultFollowItAsIfTheUserHadSentThem) {
  json::Value body = body_of({.model = "m"}, files_of_a_result());
  EXPECT_EQ(body.at("messages"), parsed(cat(R"([{"role":"user","content":"Look"},
      {"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function",
        "function":{"name":"look","arguments":"{}"}}]},
      {"role":"tool","tool_call_id":"call_1","content":"seen"},
      {"role":"user","content":[{"type":"text","text":"Files from the result of look:"},
        {"type":"image_url","image_url":{"url":"data:image/png;base64,YS5wbmc="}},
        {"type":"text","text":")",
                                            kZipNote, R"("}]}])")));
}

TEST(ChatRequest, TheModelIsToldWhyAFileIsNotThere) {
  json::Value body = body_of({.model = "m"}, absent_files());
  std::vector<std::string> texts;
  for (const json::Value& part : body.at("messages").at(0).at("content").as_array()) {
    texts.emplace_back(part.at("text").as_string());
  }
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "[The file \"a.png\" (image/png, 5 bytes) is not shown: the files of this "
                       "conversation are too large together.]",
                       "[The file \"b.png\" (image/png, 5 bytes) is not shown: it can no longer be "
                       "read.]",
                       "[The file \"c.png\" (image/png, 0 bytes) is not shown: it is empty.]"}));
}

}  // namespace
}  // namespace errand::llm::chat_request_test
