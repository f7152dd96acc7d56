#include "engine/records/agents.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::engine::agents_test {
namespace {

json::Value parsed(std::string_view text) {
  return json::parse(text).value();
}

NamedRecord stored(std::string_view members) {
  AgentParams agent = parse_agent(parsed(members), "support").value();
  return {.id = "agent_1", .name = agent.name, .version = 3, .body = agent.body};
}

Spec asked(std::string_view body) {
  return parse_spec(parsed(body)).value();
}

TEST(Agents, WhatARunLeavesOutIsTheAgents) {
  NamedRecord agent = stored(
      R"({"systemPrompt":"Be kind.","modelId":"fast","reasoningLevel":"low",
          "budgets":{"maxToolTurns":3,"localToolTimeoutMs":5000},"metadata":{"team":"a","x":"1"},
          "toolBudgets":{"search":{"maxCalls":2}},
          "outputSchema":{"schema":{"type":"object","properties":{}}}})");

  Spec spec = with_agent(asked(R"({"prompt":"Hi","agentId":"support"})"), agent).value();

  EXPECT_EQ(json::write(to_json(spec)),
            json::write(parsed(
                R"({"name":"support","modelId":"fast","systemPrompt":"Be kind.","prompt":"Hi",
                    "tools":[],"metadata":{"team":"a","x":"1"},
                    "budgets":{"localToolTimeoutMs":5000,"maxToolTurns":3},
                    "toolBudgets":{"search":{"maxCalls":2}},"reasoningLevel":30,
                    "outputSchema":{"schema":{"type":"object","properties":{}}},
                    "agentId":"agent_1","agentVersion":3})")));
}

TEST(Agents, TheAgentsPromptWinsAndOfTheRestWhatTheRunSays) {
  NamedRecord agent = stored(
      R"({"systemPrompt":"Be kind.","modelId":"fast","reasoningLevel":"low",
          "budgets":{"maxToolTurns":3,"localToolTimeoutMs":5000},
          "metadata":{"team":"a","x":"1"}})");

  Spec spec =
      with_agent(asked(R"({"prompt":"Hi","name":"mine","systemPrompt":"Be rude.","modelId":"deep",
                           "reasoningLevel":"high","budgets":{"maxToolTurns":9},
                           "metadata":{"x":"2"}})"),
                 agent)
          .value();

  EXPECT_EQ(spec.system_prompt, "Be kind.");
  EXPECT_EQ(spec.name, "mine");
  EXPECT_EQ(spec.model_id, "deep");
  EXPECT_EQ(spec.reasoning_level, 80);
  EXPECT_EQ(spec.budgets.max_tool_turns, 9);
  EXPECT_EQ(spec.budgets.local_tool_timeout, milliseconds(5000));
  EXPECT_EQ(spec.metadata, (Metadata{{"team", "a"}, {"x", "2"}}));
}

TEST(Agents, AnAgentWithoutAPromptLeavesTheRunsOwn) {
  Spec spec = with_agent(asked(R"({"prompt":"Hi","systemPrompt":"Be brief."})"),
                         stored(R"({"modelId":"fast"})"))
                  .value();

  EXPECT_EQ(spec.system_prompt, "Be brief.");
}

TEST(Agents, ToolsAreMergedAndTheRunsTakesThePlaceOfItsNamesake) {
  NamedRecord agent = stored(
      R"({"tools":[{"kind":"local","name":"a","description":"the agent's"},
                   {"kind":"local","name":"b","description":"the agent's"},
                   {"kind":"mantyx_plugin","name":"web_fetch"}]})");

  Spec spec = with_agent(asked(R"({"prompt":"Hi","tools":[
                            {"kind":"local","name":"b","description":"the run's"},
                            {"kind":"local","name":"c","description":"the run's"}]})"),
                         agent)
                  .value();

  std::vector<std::string> told;
  for (const ToolRef& ref : spec.tools->refs) {
    const auto* local = std::get_if<LocalTool>(&ref);
    told.push_back(local ? local->name + ": " + local->description : "web_fetch");
  }
  EXPECT_EQ(told, (std::vector<std::string>{"a: the agent's", "web_fetch", "b: the run's",
                                            "c: the run's"}));
}

// So that a long one is kept beside the journals, and not in each.
TEST(Agents, TheToolsOfAnAgentHaveATextOfTheirOwn) {
  const std::string tools = R"([{"kind":"local","name":"a","description":"the agent's",)"
                            R"("parameters":{"type":"object","properties":{}}}])";
  Spec spec =
      with_agent(asked(R"({"prompt":"Hi"})"), stored(cat(R"({"tools":)", tools, "}"))).value();
  EXPECT_EQ(spec.tools->text, tools);
}

TEST(Agents, AnAgentIsShownWithoutTheHeadersOfItsTools) {
  NamedRecord agent = stored(
      R"({"description":"Helps","tools":[{"kind":"mcp","name":"crm","url":"https://crm.example.com",
          "headers":{"X-Key":"k3y","Authorization":"Bearer {{secret:CRM}}"}}]})");

  EXPECT_EQ(
      json::write(agent_json(agent).value()),
      json::write(parsed(
          R"({"id":"agent_1","name":"support","version":3,"createdAt":"1970-01-01T00:00:00.000Z",
              "updatedAt":"1970-01-01T00:00:00.000Z","description":"Helps",
              "tools":[{"kind":"mcp","name":"crm","url":"https://crm.example.com",
              "headers":{"X-Key":"[redacted]","Authorization":"Bearer {{secret:CRM}}"}}]})")));
}

TEST(Agents, WhatWasReadCanBeSentBack) {
  NamedRecord agent = stored(R"({"systemPrompt":"Be kind.","tools":[]})");
  json::Value shown = agent_json(agent).value();

  EXPECT_EQ(parse_agent(shown).value().body, agent.body);
}

TEST(Agents, MistakesHaveTheirPlace) {
  auto pointer = [](std::string_view body) {
    auto agent = parse_agent(parsed(body));
    return agent ? "no error" : agent.error().pointer();
  };
  EXPECT_EQ(pointer(R"({"systemPrompt":"x"})"), "/name");
  EXPECT_EQ(pointer(R"({"name":"a b"})"), "/name");
  EXPECT_EQ(pointer(R"({"name":"a","sytemPrompt":"x"})"), "/sytemPrompt");
  EXPECT_EQ(pointer(R"({"name":"a","prompt":"x"})"), "/prompt");
  EXPECT_EQ(pointer(R"({"name":"a","agentId":"b"})"), "/agentId");
  EXPECT_EQ(pointer(R"({"name":"a","tools":[{"kind":"local"}]})"), "/tools/0/name");
  EXPECT_EQ(pointer(R"({"name":"a","tools":[{"kind":"mcp","name":"m","url":"https://x.example",
                        "headers":{"k":"[redacted]"}}]})"),
            "/tools");
}

}  // namespace
}  // namespace errand::engine::agents_test
