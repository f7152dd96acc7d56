#include "run/tools/tool_ref.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "run/spec.hpp"

namespace errand::tool_ref_test {
namespace {

Result<ToolRef> parse_text(std::string_view text) {
  return parse_tool_ref(json::parse(text).value(), "/tools/7", Origin::wire);
}

// "pointer: message [limit max]" of the refusal; "accepted" if there is none.
std::string refusal(std::string_view text) {
  auto ref = parse_text(text);
  if (ref) return "accepted";
  const Error& error = ref.error();
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  std::string limit = error.limit().empty() ? "" : cat(" [", error.limit(), " ", error.max(), "]");
  return cat(error.pointer(), ": ", error.message(), limit);
}

std::string refusal_of_tools(std::string_view tools) {
  auto spec = parse_spec(json::parse(cat(R"({"prompt":"hi","tools":[)", tools, "]}")).value());
  return spec ? "accepted" : cat(spec.error().pointer(), ": ", spec.error().message());
}

ToolDecl offered(std::string_view text) {
  return offered_tools(parse_text(text).value()).at(0).decl;
}

std::string catalog(std::size_t tools) {
  std::string text = R"({"kind":"mcp_local","name":"fs","tools":[)";
  for (std::size_t i = 0; i < tools; ++i) append(text, i ? "," : "", R"({"name":"t)", i, "\"}");
  return text + "]}";
}

std::string with_headers(std::string_view headers) {
  return cat(R"({"kind":"mcp","name":"gh","url":"https://a","headers":{)", headers, "}}");
}

TEST(ToolRef, EveryKindIsWrittenAsItWasRead) {
  for (std::string_view text : {
           R"({"kind":"local","name":"t","description":"d","parameters":{"type":"object"},)"
           R"("outputSchema":{"type":"object","title":"o"},"readOnly":true,"longRunning":true})",
           R"({"kind":"a2a_local","name":"hr","agentCard":{"name":"HR","x-own":[1.0,null]}})",
           R"({"kind":"a2a_local","name":"hr","description":"d","agentCard":{}})",
           R"({"kind":"a2a_local","name":"hr","agentCard":{},"continuesTasks":true})",
           R"({"kind":"mcp_local","name":"fs","serverInfo":{"name":"s","more":true},)"
           R"("tools":[{"name":"fs_read","title":"Read","inputSchema":{"type":"string"},)"
           R"("annotations":{"readOnlyHint":true},"_meta":{"n":12345678901234567890}}]})",
           R"({"kind":"mcp","name":"gh","url":"https://a/b"})",
           R"({"kind":"mcp","name":"gh","url":"http://a","headers":{"Authorization":"Bearer x"},)"
           R"("toolFilter":["a-b","c"],"timeoutMs":5000})",
           R"({"kind":"a2a","name":"bill","description":"d","agentCardUrl":"https://a",)"
           R"("headers":{"X-A":""},"contextId":"ctx"})",
           R"({"kind":"mantyx","id":"tool_cm6"})",
           R"({"kind":"mantyx_plugin","name":"@web/search"})",
       }) {
    auto ref = parse_text(text);
    ASSERT_TRUE(ref) << text << ref.error().describe();
    EXPECT_EQ(json::write(to_json(*ref)), text);
  }
}

TEST(ToolRef, ALocalToolIsOfferedWithTheNoteOfLongOnes) {
  ToolDecl decl =
      offered(R"({"kind":"local","name":"t","description":"Waits.","parameters":{"type":"object"},)"
              R"("outputSchema":{"type":"object"},"readOnly":true,"longRunning":true})");
  EXPECT_EQ(
      json::write(to_json(decl)),
      R"({"name":"t","description":"Waits.\n\nNOTE: This is a long-running operation. Do not )"
      R"(call this tool again if it has already returned an intermediate or pending status.",)"
      R"("inputSchema":{"type":"object"},"site":"client","annotations":{"readOnly":true,)"
      R"("idempotent":false,"parallelSafe":true,"longRunning":true},)"
      R"("outputSchema":{"type":"object"}})");
  EXPECT_EQ(decl.kind, "local");
  EXPECT_EQ(decl.echo, nullptr);
}

TEST(ToolRef, AnOutputSchemaThatIsNoObjectIsDropped) {
  EXPECT_EQ(
      offered(R"({"kind":"local","name":"t","outputSchema":{"type":"string"}})").output_schema,
      nullptr);
}

TEST(ToolRef, AnAgentIsDescribedByItsCardAndTakesAMessage) {
  std::string skills;
  for (int i = 0; i < 14; ++i) {
    append(skills, i ? "," : "", R"({"id":"s)", i, R"(","name":"Skill )", i, "\"}");
  }
  ToolDecl decl = offered(cat(R"({"kind":"a2a_local","name":"hr","agentCard":{"name":"Acme HR",)",
                              R"("description":"Knows.","skills":[{"name":"PTO","description":)",
                              R"("Finds days."},)", skills, "]}}"));
  EXPECT_EQ(
      decl.description,
      "Delegate a task to Acme HR: Knows.\n- PTO: Finds days.\n- Skill 0\n- Skill 1\n- Skill 2"
      "\n- Skill 3\n- Skill 4\n- Skill 5\n- Skill 6\n- Skill 7\n- Skill 8\n- Skill 9"
      "\n- Skill 10");
  EXPECT_EQ(json::write(*decl.input_schema),
            R"({"type":"object","properties":{"message":{"type":"string","description":)"
            R"("The whole task, as one message in plain text."}},"required":["message"],)"
            R"("additionalProperties":false})");
  EXPECT_EQ(decl.kind, "a2a_local");
  EXPECT_EQ(decl.echo->at("agentCard").at("skills").as_array().size(), 15U);
}

TEST(ToolRef, AnAgentWhoseClientContinuesTasksTakesTheirIdsToo) {
  ToolDecl decl =
      offered(R"({"kind":"a2a_local","name":"hr","agentCard":{},"continuesTasks":true})");
  EXPECT_EQ(json::write(*decl.input_schema),
            R"({"type":"object","properties":{"message":{"type":"string","description":)"
            R"("The whole task, as one message in plain text."},"taskId":{"type":"string",)"
            R"("description":"To answer a task that needs input: its id."},"contextId":{"type":)"
            R"("string","description":"To go on with an earlier conversation: its context id."}},)"
            R"("required":["message"],"additionalProperties":false})");
}

TEST(ToolRef, AnAgentWithoutAnyWordsIsDescribedByItsName) {
  EXPECT_EQ(offered(R"({"kind":"a2a_local","name":"hr","agentCard":{}})").description,
            "Delegate a task to hr");
  EXPECT_EQ(
      offered(R"({"kind":"a2a_local","name":"hr","description":"Mine.","agentCard":{"name":"x"}})")
          .description,
      "Mine.");
}

TEST(ToolRef, ACatalogIsOfferedUnderItsOwnNames) {
  auto tools = offered_tools(
      parse_text(R"({"kind":"mcp_local","name":"fs","serverInfo":{"name":"srv"},"tools":[)"
                 R"({"name":"read_it","description":"Reads.","inputSchema":{"type":"object",)"
                 R"("required":["path"]},"annotations":{"readOnlyHint":true}},{"name":"list"}]})")
          .value());
  ASSERT_EQ(tools.size(), 2U);
  EXPECT_EQ(tools[0].decl.name, "read_it");
  EXPECT_EQ(tools[0].decl.description, "Reads.");
  EXPECT_EQ(json::write(*tools[0].decl.input_schema), R"({"type":"object","required":["path"]})");
  EXPECT_EQ(json::write(*tools[0].decl.echo),
            R"({"mcpServer":"fs","mcpToolName":"read_it","mcpServerInfo":{"name":"srv"},)"
            R"("annotations":{"readOnlyHint":true}})");
  EXPECT_EQ(tools[1].schema_pointer, "/tools/1/inputSchema");
  EXPECT_EQ(json::write(*tools[1].decl.input_schema), R"({"type":"object","properties":{}})");
}

TEST(ToolRef, WhatCannotRunHereIsOfferedAsAStubThatSaysSo) {
  ToolDecl decl = offered(R"({"kind":"mcp","name":"github","url":"https://a"})");
  EXPECT_EQ(decl.name, "github_unavailable");
  EXPECT_EQ(decl.site, ToolSite::nowhere);
  EXPECT_EQ(decl.description,
            "The MCP server \"github\" is unavailable in this run: this server cannot reach it. Go "
            "on without it, and tell the user if it was needed.");
  EXPECT_EQ(offered(R"({"kind":"mantyx_plugin","name":"@web/search"})").name,
            "_web_search_unavailable");
  EXPECT_EQ(offered(R"({"kind":"mantyx","id":"tool_1"})").name, "tool_1_unavailable");
  EXPECT_EQ(offered(cat(R"({"kind":"a2a","agentCardUrl":"https://a","name":")",
                        std::string(64, 'n'), "\"}"))
                .name,
            std::string(52, 'n') + "_unavailable");
}

TEST(ToolRef, ACatalogHasOneTo64Tools) {
  EXPECT_EQ(refusal(R"({"kind":"mcp_local","name":"fs"})"),
            "/tools/7/tools: expected the server's tools: an array of 1 to 64 [mcpLocalTools 64]");
  EXPECT_EQ(
      refusal(catalog(0)),
      "/tools/7/tools: expected the server's tools: an array of 1 to 64, got 0 [mcpLocalTools 64]");
  EXPECT_EQ(refusal(catalog(1)), "accepted");
  EXPECT_EQ(refusal(catalog(64)), "accepted");
  EXPECT_EQ(refusal(catalog(65)),
            "/tools/7/tools: expected the server's tools: an array of 1 to 64, got 65 "
            "[mcpLocalTools 64]");
}

TEST(ToolRef, MistakesInACatalogAreNamedWithTheirPlace) {
  auto with_tool = [](std::string_view tool) {
    return refusal(cat(R"({"kind":"mcp_local","name":"fs","tools":[{"name":"a"},)", tool, "]}"));
  };
  EXPECT_EQ(with_tool(R"({"name":"read-file"})"),
            "/tools/7/tools/1/name: \"read-file\" is not a tool name: use 1 to 64 letters, digits "
            "and underscores");
  EXPECT_EQ(with_tool(R"({"name":"b","inputSchema":[]})"),
            "/tools/7/tools/1/inputSchema: expected an object, got an array");
  EXPECT_EQ(with_tool("7"), "/tools/7/tools/1: expected an object, got an integer");
}

TEST(ToolRef, HeadersAreShortLines) {
  std::string longest(kHeaderValueBytesMax, 'v');
  EXPECT_EQ(refusal(with_headers(cat(R"("A":")", longest, "\""))), "accepted");
  EXPECT_EQ(refusal(with_headers(cat(R"("A":")", longest, "v\""))),
            "/tools/7/headers/A: the value of a header is longer than 8192 bytes "
            "[headerValueBytes 8192]");
  for (std::string_view header : {R"("A":1)", R"("A b":"x")", R"("":"x")", R"("A":"x\ny")"}) {
    EXPECT_TRUE(
        refusal(with_headers(header)).ends_with(": expected a header: a name and a line of text"))
        << header;
  }
}

TEST(ToolRef, WhatGoesAlongWithEveryCallIsLimited) {
  auto card_of = [](std::size_t bytes) {  // {"d":"..."}
    return cat(R"({"kind":"a2a_local","name":"hr","agentCard":{"d":")", std::string(bytes - 8, 'd'),
               "\"}}");
  };
  EXPECT_EQ(refusal(card_of(kEchoBytesMax)), "accepted");
  EXPECT_EQ(
      refusal(card_of(kEchoBytesMax + 1)),
      "/tools/7/agentCard: \"agentCard\" is longer than 262144 bytes [agentCardBytes 262144]");
}

TEST(ToolRef, WhatAKindNeedsMustBeThere) {
  EXPECT_EQ(refusal(R"({"kind":"a2a_local","name":"hr"})"),
            "/tools/7/agentCard: \"agentCard\" is missing: expected an object");
  EXPECT_EQ(refusal(R"({"kind":"mcp","name":"gh"})"),
            "/tools/7/url: \"url\" is missing: expected a string");
  EXPECT_EQ(refusal(R"({"kind":"mcp","name":"gh","url":"ftp://a"})"),
            "/tools/7/url: expected a URL that begins with https:// or http://");
  EXPECT_EQ(refusal(R"({"kind":"a2a","name":"b"})"),
            "/tools/7/agentCardUrl: \"agentCardUrl\" is missing: expected a string");
  EXPECT_EQ(refusal(R"({"kind":"mantyx"})"), "/tools/7/id: \"id\" is missing: expected a string");
  EXPECT_EQ(refusal(R"({"kind":"mantyx_plugin","name":""})"), "/tools/7/name: \"name\" is empty");
  EXPECT_EQ(refusal(R"({"kind":"mcp","name":"gh","url":"https://a","toolFilter":["a",""]})"),
            "/tools/7/toolFilter/1: expected the name of a tool");
}

TEST(ToolRef, NamesThatCollideAreRefusedWithBothSources) {
  EXPECT_EQ(refusal_of_tools(R"({"kind":"mcp_local","name":"a","tools":[{"name":"x"},)"
                             R"({"name":"read"}]},{"kind":"local","name":"read"})"),
            "/tools/1/name: two tools are called \"read\": /tools/0/tools/1/name and "
            "/tools/1/name");
  EXPECT_EQ(refusal_of_tools(R"({"kind":"mantyx","id":"a"},{"kind":"local","name":"a"},)"
                             R"({"kind":"local","name":"a_unavailable"})"),
            "/tools/2/name: two tools are called \"a_unavailable\": /tools/0/id and "
            "/tools/2/name");
}

TEST(ToolRef, TheLabelOfAServerMayBeTheNameOfATool) {
  EXPECT_EQ(refusal_of_tools(R"({"kind":"mcp_local","name":"fs","tools":[{"name":"fs"}]})"),
            "accepted");
}

}  // namespace
}  // namespace errand::tool_ref_test
