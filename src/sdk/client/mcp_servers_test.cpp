// MCP servers that a program gives to its runs.

#include <errand/runtime.hpp>
#include <errand/testing.hpp>

#include <atomic>
#include <future>
#include <latch>
#include <mutex>
#include <thread>

#include "sdk/client/test_server.hpp"

namespace errand::v1::mcp_servers_test {
namespace {

struct Sum {
  int a;
  int b;
};

Tool add() {
  return tool("add", "Adds.", [](const Sum& given) { return std::to_string(given.a + given.b); });
}
Tool secret_tool() {
  return tool("secret", "Tells.", [](ToolContext& context) { return context.secret("name"); });
}

mcp::Server calc() {
  return mcp::Server(Toolkit({.name = "calc", .tools = {add(), secret_tool()}}));
}

Json sum(int a, int b) {
  return Json::object({{"a", a}, {"b", b}});
}

std::vector<std::string> names_of(const Question& question) {
  std::vector<std::string> names;
  for (const auto& tool : question.tools) names.push_back(tool.name);
  return names;
}

using Names = std::vector<std::string>;

std::string result_of(const Question& question) {
  return question.messages.back().results.at(0).text;
}

TEST(McpServers, AServerOfTheProgramHasToolsForARun) {
  auto model = scripted({{.calls = {{"calc_add", sum(2, 3)}}}, {.text = "Done."}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  EXPECT_EQ(runtime.run({.prompt = "Go.", .mcp_servers = {calc()}}).text, "Done.");
  EXPECT_EQ(names_of(model->questions().at(0)), (Names{"calc_add", "calc_secret"}));
  EXPECT_EQ(result_of(model->questions().at(1)), "5");
}

TEST(McpServers, HandlersOfAServerHaveWhatTheServerGivesThem) {
  auto model = scripted({{.calls = {{"calc_secret", Json::object()}}}, {.text = "Done."}});
  std::atomic<int> asked = 0;
  mcp::Server server(
      mcp::ServerOptions{.toolkits = {Toolkit({.name = "calc", .tools = {secret_tool()}})},
                         .handlers = {.secrets = [&asked](std::string_view) {
                           ++asked;
                           return std::optional<std::string>("hush");
                         }}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  runtime.run({.prompt = "Go.", .mcp_servers = {server}});
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(result_of(model->questions().at(1)).find("hush"), std::string::npos);
}

TEST(McpServers, ToolsAreNamedAndChosen) {
  auto model = scripted({{.text = "Done."}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  mcp::Server server = calc();
  McpServer chosen(server, {.name = "my", .tool_filter = {{"add"}}});
  Tool own = tool("calc_add", "Mine.", [] {});
  runtime.run({.prompt = "Go.", .tools = {own}, .mcp_servers = {chosen, server}});
  EXPECT_EQ(names_of(model->questions().at(0)),
            (Names{"calc_add", "my_add", "calc_add_2", "calc_secret"}));
}

// An address where nobody listens.
std::string nowhere() {
  std::string url = calc().serve_http().url();
  return url;
}

TEST(McpServers, OneThatIsDownIsAToolThatSaysSo) {
  auto model = scripted({{.calls = {{"far_unavailable", Json::object()}, {"calc_add", sum(1, 1)}}},
                         {.text = "Done."}});
  std::mutex mutex;
  std::vector<std::string> lines;
  Runtime runtime({.models = {{.id = "s", .model = model}},
                   .handlers = {.log = [&](LogLevel, std::string_view line) {
                     std::lock_guard lock(mutex);
                     lines.emplace_back(line);
                   }}});
  const std::string url = nowhere();
  runtime.run({.prompt = "Go.",
               .mcp_servers = {local_mcp(url, {.name = "far"}), calc()},
               .a2a_agents = {local_a2a(url, {.name = "friend"})}});
  EXPECT_EQ(names_of(model->questions().at(0)),
            (Names{"far_unavailable", "calc_add", "calc_secret", "friend_unavailable"}));
  const auto results = model->questions().at(1).messages.back().results;
  EXPECT_NE(results.at(0).text.find("it does not answer"), std::string::npos) << results[0].text;
  EXPECT_EQ(results.at(1).text, "2");
  std::lock_guard lock(mutex);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[0].find(url), std::string::npos) << lines[0];
}

TEST(McpServers, AServerOverHttpIsReachedAgainAfterARestart) {
  auto model = scripted({{.calls = {{"calc_add", sum(1, 2)}}}, {.text = "Done."}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  mcp::Server server = calc();
  auto serving = std::make_unique<mcp::HttpServing>(server.serve_http({.key = "k"}));
  const std::uint16_t port = serving->port();
  McpServer there = local_mcp(serving->url(), {.headers = {{"Authorization", "Bearer k"}}});
  EXPECT_EQ(runtime.run({.prompt = "Go.", .mcp_servers = {there}}).text, "Done.");
  serving.reset();
  serving = std::make_unique<mcp::HttpServing>(server.serve_http({.port = port, .key = "k"}));
  EXPECT_EQ(runtime.run({.prompt = "Go.", .mcp_servers = {there}}).text, "Done.");
  EXPECT_EQ(result_of(model->questions().at(3)), "3");
}

TEST(McpServers, ACancelReachesTheHandler) {
  std::latch begun(1);
  std::promise<void> seen;
  mcp::Server server(
      Toolkit({.name = "slow", .tools = {tool("wait", "Waits.", [&](ToolContext& context) {
                                 begun.count_down();
                                 while (!context.cancelled()) std::this_thread::yield();
                                 seen.set_value();
                               })}}));
  auto model = scripted({{.calls = {{"slow_wait", Json::object()}}}, {.text = "Done."}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  RunStream stream = runtime.stream({.prompt = "Go.", .mcp_servers = {server}});
  begun.wait();
  stream.cancel();
  seen.get_future().wait();
  EXPECT_FALSE(stream.try_reply());
}

TEST(McpServers, ASessionKeepsThem) {
  auto model = scripted({{.calls = {{"calc_add", sum(2, 2)}}}, {.text = "Done."}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  Session session = runtime.session({.mcp_servers = {calc()}});
  EXPECT_EQ(session.run("Go.").text, "Done.");
  EXPECT_EQ(result_of(model->questions().at(1)), "4");
}

TEST(McpServers, AClientTellsItsServerOfThemAndAnswers) {
  sdk::TestServer server(R"({"turns":[{"toolCalls":[{"name":"calc_add","args":{"a":2,"b":3}}]},
                                      {"text":["Done."]}]})");
  Client client(server.options());
  RunStream stream = client.stream({.prompt = "Go.", .mcp_servers = {calc()}});
  std::vector<std::string> answers;
  for (const Event& event : stream) {
    if (const auto* call = event.as<ToolCalled>()) {
      EXPECT_TRUE(call->by_client);
      EXPECT_EQ(call->tool, "calc_add");
    }
    if (const auto* answer = event.as<ToolAnswered>()) answers.push_back(answer->text);
  }
  EXPECT_EQ(answers, Names{"5"});
}

// An agent that the server stores, for others to call.
A2aAgent friend_at(const sdk::TestServer& server) {
  const ClientOptions options = server.options();
  AgentSpec agent;
  agent.name = "friend";
  Client(options).create_agent(agent);
  return local_a2a(options.server + "/api/a2a/default/agents/friend/.well-known/agent-card.json",
                   {.name = "friend", .headers = {{"Authorization", "Bearer " + options.key}}});
}

TEST(A2aAgents, AnAgentAnswersARunOfTheProgram) {
  sdk::TestServer there(R"({"turns":[{"text":["It is noon."]}]})");
  auto model = scripted({{.calls = {{"friend", Json::object({{"message", "What time is it?"}})}}},
                         {.text = "Done."}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  EXPECT_EQ(runtime.run({.prompt = "Go.", .a2a_agents = {friend_at(there)}}).text, "Done.");
  EXPECT_EQ(names_of(model->questions().at(0)), Names{"friend"});
  EXPECT_EQ(result_of(model->questions().at(1)), "It is noon.");
}

TEST(A2aAgents, AClientTellsItsServerOfAnAgentAndAsksIt) {
  sdk::TestServer there(R"({"turns":[{"text":["It is noon."]}]})");
  sdk::TestServer server(R"({"turns":[
      {"toolCalls":[{"name":"friend","args":{"message":"What time is it?"}}]},
      {"text":["Done."]}]})");
  Client client(server.options());
  RunStream stream = client.stream({.prompt = "Go.", .a2a_agents = {friend_at(there)}});
  std::vector<std::string> answers;
  for (const Event& event : stream) {
    if (const auto* answer = event.as<ToolAnswered>()) answers.push_back(answer->text);
  }
  EXPECT_EQ(answers, Names{"It is noon."});
}

}  // namespace
}  // namespace errand::v1::mcp_servers_test
