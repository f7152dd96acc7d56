// What MCP servers ask in the middle of a call of a program's run.

#include <errand/runtime.hpp>
#include <errand/testing.hpp>

#include <optional>
#include <string>
#include <vector>

#include "sdk/client/flows/test_server.hpp"

namespace errand::v1::mcp_questions_test {
namespace {

using Elicited = mcp::Elicited;

Tool tool_that(std::string name, std::function<std::string(mcp::Caller)> does) {
  return tool(name, "Asks.", [does = std::move(does)](ToolContext& context) {
    return does(mcp::Caller::of(context));
  });
}

// Asks for a name.
std::string greet(mcp::Caller client) {
  if (!client.can_elicit()) return "nobody can be asked";
  const Json text = Json::object({{"type", "string"}});
  const Elicited said =
      client.elicit({.message = "Who are you?",
                     .schema = Json::object(
                         {{"type", "object"}, {"properties", Json::object({{"name", text}})}})});
  return said.accepted() ? "Hello, " + *said.content.at("name").if_string() : "declined";
}

// Asks the model.
std::string think(mcp::Caller client) {
  if (!client.can_sample()) return "no model can be asked";
  return "It says: " + client.sample({.messages = {{.content = TextContent{"Is it so?"}}}}).text;
}

std::string tell_roots(mcp::Caller client) {
  std::string out;
  if (!client.has_roots()) return "no folders";
  for (const mcp::Root& root : client.roots()) out += root.uri + " " + root.name + ";";
  return out;
}

mcp::Server asker() {
  return mcp::Server(Toolkit({.name = "asker",
                              .tools = {tool_that("greet", greet), tool_that("think", think),
                                        tool_that("roots", tell_roots)}}));
}

Elicited accept_as_ada(const UserQuestion& question) {
  EXPECT_EQ(question.tool, "asker_greet");
  EXPECT_EQ(question.message, "Who are you?");
  EXPECT_NE(question.schema.at("properties").find("name"), nullptr);
  return {.action = Elicited::Action::accept, .content = Json::object({{"name", "Ada"}})};
}

Elicited refuse(const UserQuestion&) {
  throw Error(ErrorCode::cancelled, "not now");
}

std::shared_ptr<ScriptedModel> calling(std::string tool) {
  return scripted(
      {{.text = "Let me see.", .calls = {{std::move(tool), Json::object()}}}, {.text = "Done."}});
}

// What a run of this process gets from a call of the server's tool.
std::string result_of(const std::string& tool, RunOptions options) {
  auto model = calling(tool);
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  options.prompt = "Go.";
  if (options.mcp_servers.empty()) options.mcp_servers = {asker()};
  EXPECT_EQ(runtime.run(std::move(options)).text, "Done.");
  return model->questions().back().messages.back().results.at(0).text;
}

TEST(McpQuestions, TheModelOfTheRunAnswersSampling) {
  EXPECT_EQ(result_of("asker_think", {}), "It says: Let me see.");
}

TEST(McpQuestions, TheProgramAnswersForItsUser) {
  EXPECT_EQ(result_of("asker_greet", {.ask_user = accept_as_ada}), "Hello, Ada");
}

TEST(McpQuestions, AnExceptionOfTheProgramDeclines) {
  EXPECT_EQ(result_of("asker_greet", {.ask_user = refuse}), "declined");
}

TEST(McpQuestions, AnElicitationIsAPendingCallThatIsAnsweredByHand) {
  auto model = calling("asker_greet");
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  RunStream stream = runtime.stream({.prompt = "Go.", .mcp_servers = {asker()}});
  std::optional<ToolCalled> asked;
  while (!asked) {
    const std::optional<Event> event = stream.next();
    ASSERT_TRUE(event);
    const auto* call = event->as<ToolCalled>();
    if (call && call->by_client) asked = *call;
  }
  EXPECT_EQ(asked->tool, "mcp_elicitation");
  EXPECT_EQ(asked->arguments.at("message"), Json("Who are you?"));
  runtime.answer(stream.run_id(), asked->id,
                 ToolResult{{TextContent{R"({"action":"accept","content":{"name":"Ada"}})"}}});
  EXPECT_EQ(stream.reply().text, "Done.");
  EXPECT_EQ(model->questions().back().messages.back().results.at(0).text, "Hello, Ada");
}

TEST(McpQuestions, AnElicitationThatNobodyAnswersInTimeIsDeclined) {
  EXPECT_EQ(result_of("asker_greet", {.tool_timeout = std::chrono::milliseconds(1000)}),
            "declined");
}

TEST(McpQuestions, ASessionAsksTheUserOfTheProgram) {
  auto model = calling("asker_greet");
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  Session session = runtime.session({.mcp_servers = {asker()}, .ask_user = accept_as_ada});
  EXPECT_EQ(session.run("Go.").text, "Done.");
  EXPECT_EQ(model->questions().back().messages.back().results.at(0).text, "Hello, Ada");
}

TEST(McpQuestions, AServerIsToldItsFolders) {
  EXPECT_EQ(result_of("asker_roots", {}), "no folders");
  McpServer there(asker(), {.roots = {"/tmp/a b", "/"}});
  EXPECT_EQ(result_of("asker_roots", {.mcp_servers = {there}}), "file:///tmp/a%20b a b;file:/// ;");
}

TEST(McpQuestions, AFolderWithoutItsWholePathIsRefused) {
  Runtime runtime({.models = {{.id = "s", .model = calling("x")}}});
  McpServer there(asker(), {.roots = {"here"}});
  EXPECT_THROW(runtime.run({.prompt = "Go.", .mcp_servers = {there}}), Error);
}

// The result of a call that a client makes for a run of a server.
std::string answered_by_client(const std::string& tool, AskUser ask_user) {
  sdk::TestServer server(R"({"turns":[{"toolCalls":[{"name":")" + tool +
                         R"(","args":{}}]},{"text":["Done."]}]})");
  Client client(server.options());
  RunStream stream =
      client.stream({.prompt = "Go.", .mcp_servers = {asker()}, .ask_user = std::move(ask_user)});
  std::string text;
  for (const Event& event : stream) {
    if (const auto* answer = event.as<ToolAnswered>()) text = answer->text;
  }
  return text;
}

TEST(McpQuestions, AClientAsksItsUserForItsServers) {
  EXPECT_EQ(answered_by_client("asker_greet", accept_as_ada), "Hello, Ada");
  EXPECT_EQ(answered_by_client("asker_greet", refuse), "declined");
  EXPECT_EQ(answered_by_client("asker_greet", {}), "declined");
}

TEST(McpQuestions, AClientHasNoModelToAsk) {
  EXPECT_EQ(answered_by_client("asker_think", {}), "no model can be asked");
}

}  // namespace
}  // namespace errand::v1::mcp_questions_test
