#include "mcp/codec.hpp"

#include <gtest/gtest.h>

#include <string>

#include "json/parse.hpp"
#include "json/write.hpp"
#include "mcp/header_parameters.hpp"
#include "mcp/tool_result.hpp"

namespace errand::mcp::codec_test {
namespace {

Content content(std::string_view text) {
  return parse_content(json::parse(text).value());
}

TEST(McpContent, EveryKindIsReadAndWritten) {
  const std::pair<std::string, Content> cases[] = {
      {R"({"type":"text","text":"a"})", TextContent{"a"}},
      {R"({"type":"image","data":"AA==","mimeType":"image/png"})",
       ImageContent{"AA==", "image/png"}},
      {R"({"type":"audio","data":"AA==","mimeType":"audio/wav"})",
       AudioContent{"AA==", "audio/wav"}},
      {R"({"type":"resource_link","uri":"u","name":"n","mimeType":"t"})",
       ResourceLink{.uri = "u", .name = "n", .mime_type = "t"}},
      {R"({"type":"resource","resource":{"uri":"u","mimeType":"t","text":"x"}})",
       EmbeddedResource{.uri = "u", .mime_type = "t", .body = TextBody{"x"}}},
      {R"({"type":"resource","resource":{"uri":"u","blob":"AA=="}})",
       EmbeddedResource{.uri = "u", .mime_type = "", .body = BlobBody{"AA=="}}},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(content(text), expected);
    EXPECT_EQ(json::write(json::Value(to_json(expected))), text);
  }
}

TEST(McpContent, WhatIsNotKnownIsAValue) {
  EXPECT_EQ(content(R"({"type":"hologram"})"), Content(UnknownContent{"hologram"}));
  EXPECT_EQ(content(R"({"type":"text"})"), Content(UnknownContent{"text"}));
  EXPECT_EQ(content(R"({"type":"resource","resource":3})"), Content(UnknownContent{"resource"}));
  EXPECT_EQ(content("3"), Content(UnknownContent{""}));
}

// Those that pass a tool on, such as mcp_local, leave nothing out.
TEST(McpTool, IsWrittenAsItCame) {
  for (const char* text : {
           R"({"name":"n","title":"T","description":"d","inputSchema":{"type":"object"},
               "outputSchema":{"type":"object"},"icons":[{"src":"u"}],"_meta":{"a/b":1},
               "annotations":{"readOnlyHint":true,"title":"other","x":[1]}})",
           R"({"name":"n","inputSchema":{},"annotations":{"title":"of an older server"}})",
           R"({"name":"n","inputSchema":{},"annotations":{"idempotentHint":true}})",
       }) {
    json::Value tool = json::parse(text).value();
    json::Object answer{{"tools", json::Array{tool}}};
    auto page = parse_tool_page(json::Value(answer)).value();
    EXPECT_EQ(json::Value(to_json(page.tools.at(0))), tool);
  }
}

TEST(McpTool, HintsAndSchemasAreKept) {
  auto page = parse_tool_page(json::parse(R"({"tools":[{"name":"n","title":"T","description":"d",
      "inputSchema":{"type":"object"},"outputSchema":{"type":"object"},
      "annotations":{"readOnlyHint":true,"destructiveHint":false,"title":"other"}}],
      "nextCursor":"c","ttlMs":5})")
                                  .value())
                  .value();
  Tool expected{
      .name = "n",
      .title = "T",
      .description = "d",
      .input_schema = {{"type", "object"}},
      .output_schema = json::Object{{"type", "object"}},
      .annotations = {.read_only = true, .destructive = false},
      .more = {{"annotations",
                {{"readOnlyHint", true}, {"destructiveHint", false}, {"title", "other"}}}}};
  EXPECT_EQ(page.tools, std::vector<Tool>{expected});
  EXPECT_EQ(page.next_cursor, "c");
  EXPECT_EQ(page.ttl_millis, 5);
}

Result<std::vector<HeaderParameter>> headers(std::string_view schema) {
  return find_header_parameters(json::parse(schema).value().as_object());
}

TEST(McpHeaders, MarkedArgumentsAreFoundWherePropertiesLead) {
  EXPECT_EQ(headers(R"({"properties":{"a":{"type":"string","x-mcp-header":"A"},
                        "b":{"type":"object","properties":{"c":{"type":"integer",
                        "x-mcp-header":"C"}}}}})")
                .value(),
            (std::vector<HeaderParameter>{{.header = "Mcp-Param-A", .path = {"a"}},
                                          {.header = "Mcp-Param-C", .path = {"b", "c"}}}));
  EXPECT_EQ(headers(R"({"properties":{"a":{"default":{"x-mcp-header":"A"}}}})").value().size(), 0U);
}

TEST(McpHeaders, MarksThatTheProtocolForbidsAreRefused) {
  for (const char* schema : {
           R"({"properties":{"a":{"type":"number","x-mcp-header":"A"}}})",
           R"({"properties":{"a":{"type":"string","x-mcp-header":"A B"}}})",
           R"({"properties":{"a":{"type":"string","x-mcp-header":""}}})",
           R"({"properties":{"a":{"type":"string","x-mcp-header":7}}})",
           R"({"type":"string","x-mcp-header":"A"})",
           R"({"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}})",
           R"({"properties":{"a":{"type":"string","x-mcp-header":"A"},
                             "b":{"type":"string","x-mcp-header":"a"}}})",
       }) {
    EXPECT_FALSE(headers(schema)) << schema;
  }
}

TEST(McpHeaders, ArgumentsBecomeTextThatAHeaderMayCarry) {
  json::Object arguments{{"s", "a b"},
                         {"u", "ü"},
                         {"i", -3},
                         {"b", true},
                         {"n", nullptr},
                         {"d", 1.5},
                         {"o", json::Object{{"s", "deep"}}},
                         {"e", "=?base64?x?="},
                         {"t", " x"}};
  auto value = [&](std::vector<std::string> path) {
    return header_value({.header = "H", .path = std::move(path)}, arguments);
  };
  EXPECT_EQ(value({"s"}), "a b");
  EXPECT_EQ(value({"u"}), "=?base64?w7w=?=");
  EXPECT_EQ(value({"i"}), "-3");
  EXPECT_EQ(value({"b"}), "true");
  EXPECT_EQ(value({"n"}), std::nullopt);
  EXPECT_EQ(value({"d"}), std::nullopt);
  EXPECT_EQ(value({"missing"}), std::nullopt);
  EXPECT_EQ(value({"o", "s"}), "deep");
  EXPECT_EQ(value({"s", "s"}), std::nullopt);
  EXPECT_EQ(value({"e"}), "=?base64?PT9iYXNlNjQ/eD89?=");
  EXPECT_EQ(value({"t"}), "=?base64?IHg=?=");
}

std::vector<std::string> names(std::string_view prefix, std::vector<std::string> tools) {
  std::vector<Tool> list;
  for (std::string& name : tools) list.push_back({.name = std::move(name)});
  return vendor_names(prefix, list);
}

TEST(McpNames, AreSafeForEveryVendorAndUnique) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("gh", {"get_issue", "a.b", "a b", "a_b"}),
            (Names{"gh_get_issue", "gh_a_b", "gh_a_b_2", "gh_a_b_3"}));
  Names both = names("s", {std::string(100, 'x'), std::string(99, 'x') + "y"});
  EXPECT_EQ(both[0].size(), 64U);
  EXPECT_EQ(both[1].size(), 64U);
  EXPECT_NE(both[0], both[1]);
}

TEST(McpResult, WhatDoesNotFitIsCut) {
  CallToolResult result{.content = {TextContent{std::string(600, 'a')},
                                    ImageContent{std::string(600, 'b'), "image/png"},
                                    TextContent{std::string(600, 'c')}},
                        .structured_content = json::Value(std::string(2000, 'd'))};
  cut_result(result, 1000);
  EXPECT_EQ(result,
            (CallToolResult{
                .content = {TextContent{std::string(600, 'a')}, TextContent{std::string(400, 'c')},
                            TextContent{"[The tool's result is larger than 1000 bytes. 2802 bytes "
                                        "were cut.]"}}}));
}

TEST(McpResult, TextAndStructuredContentShareTheLimit) {
  CallToolResult result{.content = {TextContent{std::string(600, 'a')}},
                        .structured_content = json::Value(std::string(598, 'd'))};
  cut_result(result, 1000);
  EXPECT_EQ(result,
            (CallToolResult{
                .content = {TextContent{std::string(600, 'a')},
                            TextContent{"[The tool's result is larger than 1000 bytes. 600 bytes "
                                        "were cut.]"}}}));
}

TEST(McpResult, WhatFitsStaysAsItIs) {
  CallToolResult result{.content = {TextContent{"a"}, UnknownContent{"x"}}};
  CallToolResult same = result;
  cut_result(same, 1000);
  EXPECT_EQ(same, result);
}

}  // namespace
}  // namespace errand::mcp::codec_test
