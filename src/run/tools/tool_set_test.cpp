#include "run/tools/tool_set.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "run/spec.hpp"

namespace errand::tool_set_test {
namespace {

constexpr std::string_view kTools =
    R"([{"kind":"local","name":"look","parameters":{"type":"object"}},)"
    R"({"kind":"mcp","name":"m","url":"https://x","headers":{"a":"b"}}])";

std::string body_with(std::string_view tools, std::string_view prompt = "hi") {
  return cat(R"({"prompt":")", prompt, R"(","tools":)", tools, R"(,"name":"n"})");
}

std::string written(const ToolSet& tools) {
  std::string out;
  write(out, tools);
  return out;
}

// As the engine does: what is known has been compiled.
Result<Spec> read(std::string_view body, ToolSetCache& known) {
  auto spec = parse_spec(body, known);
  if (spec) known.insert(spec->tools);
  return spec;
}

TEST(ToolSet, IsReadOnceForAllWhoSendIt) {
  ToolSetCache known;
  Spec first = read(body_with(kTools), known).value();
  Spec second = read(body_with(kTools, "ho"), known).value();
  EXPECT_EQ(first.tools, second.tools);
  EXPECT_EQ(second.prompt, "ho");
  EXPECT_EQ(second.name, "n");
  EXPECT_EQ(json::Value(to_json(second)).at("tools"), json::Value(to_json(first)).at("tools"));
  EXPECT_EQ(known.size(), 1U);
}

TEST(ToolSet, WhatStandsAroundItIsReadAsEver) {
  ToolSetCache known;
  ASSERT_TRUE(read(body_with(kTools), known));
  for (const std::string& wrong : {cat(R"({"tools":)", kTools, "}"),                // no prompt
                                   cat(R"({"prompt":"p","tools":)", kTools),        // cut
                                   cat(R"({"prompt":"p","tools":)", kTools, "x}"),  // not JSON
                                   cat(R"({"prompt":"p","tools":)", kTools, R"(,"tools":[]})"),
                                   cat(R"({"prompt":1,"tools":)", kTools, "}")}) {
    ToolSetCache nothing;
    auto known_tools = read(wrong, known);
    auto new_tools = read(wrong, nothing);
    ASSERT_FALSE(known_tools) << wrong;
    ASSERT_FALSE(new_tools) << wrong;
    EXPECT_EQ(known_tools.error().code(), new_tools.error().code()) << wrong;
    EXPECT_EQ(known_tools.error().pointer(), new_tools.error().pointer()) << wrong;
    EXPECT_EQ(known_tools.error().message(), new_tools.error().message()) << wrong;
  }
}

TEST(ToolSet, AMistakeIsNamedWhereItStandsInTheBody) {
  ToolSetCache known;
  std::string cut = cat(R"({"prompt":"p","tools":)", kTools, "x}");
  EXPECT_EQ(read(cut, known).error().message(),
            cat("not valid JSON: syntax error at byte ", cut.size() - 2));
  EXPECT_EQ(
      read(body_with(R"([{"kind":"local","name":"a"},{"kind":"local"}])"), known).error().pointer(),
      "/tools/1/name");
}

TEST(ToolSet, TheDepthOfTheBodyCountsForItsTools) {
  auto body_of_depth = [](std::size_t depth) {  // the body, the tools and a tool are three levels
    std::string nest = std::string(depth - 3, '[') + std::string(depth - 3, ']');
    return body_with(cat(R"([{"kind":"local","name":"a","x":)", nest, "}]"));
  };
  ToolSetCache known;
  EXPECT_TRUE(read(body_of_depth(json::kDepthMax), known));
  EXPECT_EQ(read(body_of_depth(json::kDepthMax + 1), known).error().limit(), "jsonDepth");
}

TEST(ToolSet, WhatARefKeepsOutlivesTheBody) {
  ToolSetCache known;
  auto body = std::make_unique<std::string>(body_with(R"([
      {"kind":"local","name":"a","parameters":{"type":"object","properties":{"q":{}}}},
      {"kind":"mcp_local","name":"m","tools":[{"name":"t","inputSchema":{"type":"object"}}]}])"));
  ToolSetPtr tools = parse_spec(*body, known).value().tools;
  body.reset();
  SchemaPtr schema = std::get<LocalTool>(tools->refs[0]).parameters;
  SchemaPtr of_mcp = offered_tools(tools->refs[1])[0].decl.input_schema;
  tools.reset();
  EXPECT_EQ(json::Value(*schema),
            json::parse(R"({"type":"object","properties":{"q":{}}})").value());
  EXPECT_EQ(json::Value(*of_mcp), json::parse(R"({"type":"object"})").value());
}

TEST(ToolSet, ToolsElsewhereInTheBodyAreNotTaken) {
  ToolSetCache known;
  ASSERT_TRUE(read(body_with(kTools), known));
  Spec spec = read(cat(R"({"prompt":"p","supervisor":{"tools":)", kTools, "}}"), known).value();
  EXPECT_TRUE(spec.tools->refs.empty());
}

TEST(ToolSet, GoesToTheJournalOnOneLineAsItWasSent) {
  ToolSetCache known;
  const std::string spread = "[\r\n {\"kind\":\"mantyx\",\n\"id\":\"t\",\"other\":1}\n]";
  Spec spec = read(body_with(spread), known).value();
  EXPECT_EQ(written(*spec.tools), "[   {\"kind\":\"mantyx\", \"id\":\"t\",\"other\":1} ]");
}

TEST(ToolSet, OneThatWasNotSentIsWrittenFromItsRefs) {
  EXPECT_EQ(written(*share_tools({WorkspaceTool{.id = "t"}, HostTool{.name = "clock"}})),
            R"([{"kind":"mantyx","id":"t"},{"kind":"host","name":"clock"}])");
}

TEST(ToolSet, ThatIsKeptBesideTheJournalIsNamedThereAndPutBack) {
  Spec spec;
  spec.prompt = "p";
  spec.tools = std::make_shared<const ToolSet>(
      ToolSet{.refs = {WorkspaceTool{.id = "t"}}, .text = "[{}]", .hash = "ab12"});
  std::string text;
  write(text, spec);
  EXPECT_EQ(text, R"({"prompt":"p","tools":{"sha256":"ab12"}})");
  std::string journal = cat(R"({"entry":"created","spec":)", text, "}\n{\"entry\":\"turn\"}\n");
  EXPECT_EQ(hashes_of_tools(journal), std::vector<std::string>{"ab12"});
  put_tools_back(journal, "ab12", "[1,\n2]");
  EXPECT_EQ(journal, cat(R"({"entry":"created","spec":{"prompt":"p","tools":[1, 2]}})",
                         "\n{\"entry\":\"turn\"}\n"));
  EXPECT_TRUE(hashes_of_tools(journal).empty());
  EXPECT_TRUE(hashes_of_tools("").empty());
  EXPECT_FALSE(parse_journaled_spec(json::parse(text).value()));
}

TEST(ToolSetCache, ForgetsWhatWasUsedLongestAgo) {
  ToolSetCache cache;
  for (std::size_t i = 0; i < ToolSetCache::kSetsMax; ++i) {
    cache.insert(share_tools({}, cat("[", i, "]")));
  }
  EXPECT_NE(cache.find("[0]"), nullptr);
  cache.insert(share_tools({}, "[new]"));
  EXPECT_EQ(cache.size(), ToolSetCache::kSetsMax);
  EXPECT_NE(cache.find("[0]"), nullptr);
  EXPECT_EQ(cache.find("[1]"), nullptr);
}

TEST(ToolSetCache, IsBoundedByTheLengthOfItsTexts) {
  ToolSetCache cache;
  const std::size_t half = ToolSetCache::kTextBytesMax / 2;
  cache.insert(share_tools({}, std::string(half, 'a')));
  cache.insert(share_tools({}, std::string(half, 'b')));
  EXPECT_EQ(cache.size(), 2U);
  cache.insert(share_tools({}, "c"));
  EXPECT_EQ(cache.size(), 2U);
  cache.insert(share_tools({}, std::string(ToolSetCache::kTextBytesMax + 1, 'd')));
  EXPECT_EQ(cache.size(), 2U);
}

TEST(ToolSetCache, WhatSchemasTakeOnceCompiledCounts) {
  json::Object properties;
  for (int i = 0; i < 100; ++i) {
    properties[cat("p", i)] = json::Object{{"pattern", cat("^[a-z]{1,200}", i, "$")}};
  }
  auto checker = json::compile_schema(json::Object{{"properties", properties}}).value();
  auto with_checkers = [&checker](std::string text, std::size_t count) {
    ToolSet set{.refs = {}, .text = std::move(text), .hash = {}};
    std::vector<ToolDecl> decls(count);
    for (ToolDecl& decl : decls) decl.checker = checker;
    set.offered = share_decls(std::move(decls));
    return std::make_shared<const ToolSet>(std::move(set));
  };
  const std::size_t third = 16 * ToolSetCache::kTextBytesMax / checker->bytes() / 3;
  ToolSetCache cache;
  for (std::string text : {"a", "b", "c", "d"}) cache.insert(with_checkers(text, third));
  EXPECT_EQ(cache.size(), 3U);
  EXPECT_EQ(cache.find("a"), nullptr);
  cache.insert(with_checkers("e", 4 * third));
  EXPECT_EQ(cache.find("e"), nullptr) << "it takes more than all that is kept";
}

TEST(ToolSetCache, SetsWithoutATextAreNotKept) {
  ToolSetCache cache;
  cache.insert(share_tools({HostTool{.name = "clock"}}));
  EXPECT_EQ(cache.size(), 0U);
}

}  // namespace
}  // namespace errand::tool_set_test
