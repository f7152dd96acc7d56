#include <errand/toolkit.hpp>

#include <gtest/gtest.h>

#include <string>

namespace toolkit_test {
namespace {

using errand::Json;
using errand::JsonContent;
using errand::Tool;
using errand::ToolContext;
using errand::Toolkit;
using errand::ToolOutcome;
using errand::ToolResult;
using errand::Validation;

struct Sum {
  int a;
  int b = 10;
};

Json parse(std::string_view text) {
  return Json::parse(text).value();
}

Tool named(std::string name) {
  return errand::tool(std::move(name), "", [](const Sum& sum) { return sum.a + sum.b; });
}

Toolkit calculator(Validation validation = Validation::full) {
  return Toolkit({.name = "calculator",
                  .rules = {"Be exact."},
                  .tools = {named("add"), named("subtract")},
                  .validation = validation});
}

std::vector<std::string> names(const Toolkit& toolkit) {
  std::vector<std::string> out;
  for (const Tool& tool : toolkit.tools()) out.push_back(tool.name());
  return out;
}

TEST(Toolkit, HasDefaults) {
  Toolkit toolkit = calculator();
  EXPECT_EQ(toolkit.title(), "calculator");
  EXPECT_EQ(toolkit.description(), "");
  EXPECT_EQ(toolkit.validation(), Validation::full);
  EXPECT_TRUE(toolkit.is_public());
  EXPECT_EQ(Toolkit({.name = "a", .title = "A"}).title(), "A");
  EXPECT_THROW(Toolkit({.name = ""}), errand::Error);
}

TEST(Toolkit, RefusesTwoToolsOfANameAtOnce) {
  try {
    Toolkit toolkit({.name = "kit", .tools = {named("add"), named("add")}});
    FAIL() << toolkit.name();
  } catch (const errand::Error& error) {
    EXPECT_EQ(error.code(), errand::ErrorCode::conflict);
    EXPECT_EQ(error.message(), "the toolkit kit has two tools named add");
  }
  EXPECT_THROW(calculator().plus(calculator()), errand::Error);
  Toolkit toolkit = calculator();
  EXPECT_THROW(toolkit.add(named("add")), errand::Error);
}

TEST(Toolkit, NamesItsToolsAndTheClosestOneWhenANameIsUnknown) {
  Toolkit toolkit = calculator();
  EXPECT_EQ(toolkit.get_tool("add").name(), "add");
  EXPECT_EQ(toolkit.find("ad"), nullptr);
  try {
    toolkit.get_tool("substract");
    FAIL();
  } catch (const errand::Error& error) {
    EXPECT_EQ(error.code(), errand::ErrorCode::not_found);
    EXPECT_EQ(error.message(),
              "There is no tool substract in calculator; did you mean subtract? It has: add, "
              "subtract.");
  }
  ToolContext context;
  EXPECT_EQ(toolkit.execute(context, "zzz", Json::object()),
            ToolResult::failed("There is no tool zzz in calculator. It has: add, subtract."));
}

TEST(Toolkit, ExecutesByNameWithAJsonObject) {
  Toolkit toolkit = calculator();
  ToolContext context;
  EXPECT_EQ(toolkit.execute(context, "add", parse(R"({"a":1,"b":2})")).text(), "3");
  EXPECT_EQ(toolkit.execute(context, "add", JsonContent{parse(R"({"a":1})")}).text(), "11");
  EXPECT_EQ(toolkit.execute(context, "add", errand::TextContent{"1"}),
            ToolResult::failed("The input of add must be a JSON object."));
  EXPECT_EQ(toolkit.execute(context, "add", parse("[1]")),
            ToolResult::failed("The input of add must be a JSON object, not an array."));
  EXPECT_EQ(toolkit.execute(context, "add", errand::EmptyContent{}).outcome, ToolOutcome::failed);
}

TEST(Toolkit, TheRelaxedModesCoerceAndLeaveOutUnknownMembers) {
  ToolContext context;
  Json args = parse(R"({"a":"1","c":5})");
  EXPECT_EQ(calculator(Validation::full).execute(context, "add", args).outcome,
            ToolOutcome::failed);
  EXPECT_EQ(calculator(Validation::content_types).execute(context, "add", args).text(), "11");
  EXPECT_EQ(calculator(Validation::none).execute(context, "add", args).text(), "11");
  EXPECT_EQ(calculator(Validation::none).execute(context, "add", parse("{}")).outcome,
            ToolOutcome::failed);
}

TEST(Toolkit, ContentTypesAskForStructuredContentAndFullForOneThatFits) {
  errand::ToolOptions options{.output_schema = parse(R"({"type":"object","required":["a"]})")};
  auto outcome = [&](std::string_view json, Validation validation) {
    Tool tool = errand::tool("t", "", [value = parse(json)] { return value; }, options);
    ToolContext context;
    Toolkit toolkit({.name = "kit", .tools = {tool}, .validation = validation});
    return toolkit.execute(context, "t", Json::object()).outcome;
  };
  EXPECT_EQ(outcome("7", Validation::none), ToolOutcome::ok);
  EXPECT_EQ(outcome("7", Validation::content_types), ToolOutcome::failed);
  EXPECT_EQ(outcome("{}", Validation::content_types), ToolOutcome::ok);
  EXPECT_EQ(outcome("{}", Validation::full), ToolOutcome::failed);
  EXPECT_EQ(outcome(R"({"a":1})", Validation::full), ToolOutcome::ok);
}

TEST(Toolkit, FillsRequiredMembersThatMayBeNull) {
  Json schema = parse(R"({"type":"object","required":["a","b"],"properties":{
      "a":{"type":["string","null"]},"b":{"anyOf":[{"type":"integer"},{"type":"null"}]}}})");
  Tool tool = errand::tool("t", "", schema, [](const Json& args) { return args.dump(); });
  Toolkit toolkit({.name = "kit", .tools = {tool}});
  ToolContext context;
  EXPECT_EQ(toolkit.execute(context, "t", errand::EmptyContent{}).text(), R"({"a":null,"b":null})");
}

TEST(Toolkit, GivesItsDefinitionsToTheSchemasOfItsTools) {
  Json schema = parse(R"({"type":"object","properties":{"c":{"$ref":"#/$defs/City"}}})");
  Tool tool = errand::tool("t", "", schema, [](const Json&) { return "ok"; });
  ToolContext context;
  EXPECT_EQ(tool.call(Json::object()).outcome, ToolOutcome::failed);
  Toolkit toolkit({.name = "kit",
                   .defs = {{"City", parse(R"({"type":"string","maxLength":3})")}},
                   .tools = {tool}});
  EXPECT_EQ(toolkit.execute(context, "t", parse(R"({"c":"abc"})")).text(), "ok");
  EXPECT_EQ(toolkit.execute(context, "t", parse(R"({"c":"abcd"})")).outcome, ToolOutcome::failed);
}

TEST(Toolkit, IsFilteredAndComposed) {
  Toolkit toolkit = calculator();
  EXPECT_EQ(names(toolkit.only({"subtract"})), std::vector<std::string>{"subtract"});
  EXPECT_EQ(names(toolkit.without({"subtract"})), std::vector<std::string>{"add"});
  Toolkit more({.name = "more", .rules = {"Be quick."}, .tools = {named("divide")}});
  Toolkit both = toolkit.plus(more);
  EXPECT_EQ(names(both), (std::vector<std::string>{"add", "subtract", "divide"}));
  EXPECT_EQ(both.rules(), (std::vector<std::string>{"Be exact.", "Be quick."}));
  EXPECT_EQ(both.name(), "calculator");
  EXPECT_THROW(toolkit.only({"none"}), errand::Error);
  EXPECT_THROW(toolkit.without({"none"}), errand::Error);
}

}  // namespace
}  // namespace toolkit_test
