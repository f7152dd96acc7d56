// What the protocol asks of a client, one test for each line of its checklist for SDKs.
#include <errand/client.hpp>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <vector>

#include "json/parse.hpp"
#include "json/write.hpp"
#include "net/client/http_client.hpp"
#include "sdk/client/flows/test_server.hpp"
#include "sdk/client/flows/test_wire.hpp"
#include "sdk/http/http_api.hpp"
#include "support/run_task.hpp"

namespace errand::v1::compliance_test {
namespace {

using sdk::TestServer;
using sdk::TestWire;

struct Word {
  std::string word;
};
struct Echoed {
  std::string text;
};
struct Report {
  std::string title;
  int pages;
};

constexpr std::string_view kDone = R"({"turns":[{"text":["Done."]}]})";
constexpr std::string_view kEcho = R"({"turns":[
    {"toolCalls":[{"name":"echo","args":{"word":"a"}}]},{"text":["Done."]}]})";

Tool echo() {
  return tool("echo", "Echo a word.", [](const Word& args) { return Echoed{args.word}; },
              {.read_only = true, .long_running = true});
}

// The spec of a run as the server has it.
json::Object spec_of(const ClientOptions& options, const std::string& run) {
  asio::io_context io(1);
  sdk::HttpApi api({.url = options.server, .workspace = "default", .key = options.key},
                   net::ClientOptions());
  auto answer = run_task(io, api.send({.path = sdk::run_path(run, "")}));
  EXPECT_TRUE(answer) << answer.error().describe();
  return answer ? answer->as_object().at("spec").as_object() : json::Object();
}

std::string member(const json::Object& spec, std::string_view key) {
  const json::Value* found = spec.if_contains(key);
  return found ? json::write(*found) : "nothing";
}

// What a client sends for a run with these options, byte for byte.
std::string sent(RunOptions options, std::string_view key) {
  TestServer server(kDone);
  TestWire wire(server.options().server);
  ClientOptions at = server.options();
  at.server = wire.url();
  options.prompt = "Go.";
  EXPECT_EQ(Client(at).run(std::move(options)).text, "Done.");
  auto body = json::parse(wire.body_of("POST /api/v1/workspaces/default/agent-runs "));
  return body ? member(body->as_object(), key) : "no body";
}

// "Accept reasoningLevel in either string or number form and pass it through unchanged."
TEST(Compliance, AReasoningLevelIsPassedOnAsTextOrNumber) {
  EXPECT_EQ(sent({.reasoning_level = "high"}, "reasoningLevel"), R"("high")");
  EXPECT_EQ(sent({.reasoning_level = 40}, "reasoningLevel"), "40");
  EXPECT_EQ(sent({}, "reasoningLevel"), "nothing");
}

// Members and kinds that only a newer server knows are for the server to judge.
TEST(Compliance, AToolOfTheServerIsPassedOnUnchangedAndItsWarningsAreLogged) {
  TestServer server(kDone);
  TestWire wire(server.options().server);
  ClientOptions options = server.options();
  options.server = wire.url();
  std::vector<std::string> logged;
  options.handlers.log = [&logged](LogLevel, std::string_view line) { logged.emplace_back(line); };
  Json plugin =
      Json::parse(R"({"kind":"mantyx_plugin","name":"web-fetch","toolFiler":[1.0]})").value();
  Client(options).run({.prompt = "Go.", .server_tools = {plugin}});
  EXPECT_EQ(
      wire.count(R"("tools":[{"kind":"mantyx_plugin","name":"web-fetch","toolFiler":[1.0]}])"), 1);
  EXPECT_EQ(logged,
            (std::vector<std::string>{wire.url() + " warns: /tools/0/toolFiler: unknown member"}));
  Json newer = Json::parse(R"({"kind":"newer","name":"n"})").value();
  auto refused = Client(options).try_run({.prompt = "Go.", .server_tools = {newer}});
  EXPECT_EQ(refused.error().pointer(), "/tools/0/kind");
  EXPECT_EQ(wire.count(R"("tools":[{"kind":"newer","name":"n"}])"), 1);
}

// "Accept outputSchema as {name?, schema} and pass it through unchanged. Parse the text and
// validate it again."
TEST(Compliance, AnOutputSchemaIsPassedOnAndTheAnswerIsCheckedAgain) {
  Json schema = Json::parse(R"({"type":"object","properties":{"a":{"type":"integer"}}})").value();
  TestServer good(R"({"turns":[{"text":["{\"title\":\"T\",\"pages\":3}"]}]})");
  auto reply =
      Client(good.options())
          .run({.prompt = "Go.", .output = OutputSchema{.schema = schema, .name = "mine"}});
  EXPECT_EQ(member(spec_of(good.options(), reply.run_id), "outputSchema"),
            R"({"name":"mine","schema":{"type":"object","properties":{"a":{"type":"integer"}}}})");
  EXPECT_EQ(Client(good.options()).run<Report>({.prompt = "Go."}).value.pages, 3);
  TestServer bad(R"({"turns":[{"text":["{\"title\":"]}]})");
  EXPECT_THROW((void)Client(bad.options()).run<Report>({.prompt = "Go."}), Error);
}

// A schema that no C++ type stands for is the caller's to choose, and checked all the same.
TEST(Compliance, AnAnswerIsCheckedAgainstTheSchemaOfTheCaller) {
  TestServer server(R"({"turns":[{"text":["{\"pages\":30}"]}]})");
  TestWire wire(server.options().server, {.replaced = R"(\"pages\":30)", .by = R"(\"pages\":90)"});
  ClientOptions altered = server.options();
  altered.server = wire.url();
  Json schema = Json::parse(R"({"type":"object","properties":{"pages":{"maximum":50}}})").value();
  RunOptions options{.prompt = "Go.", .output = OutputSchema{.schema = schema}};
  EXPECT_EQ(Client(server.options()).run<Json>(options).value, Json::object({{"pages", 30}}));
  try {
    Client(altered).run<Json>(options);
    FAIL() << "nothing was thrown";
  } catch (const OutputError& error) {
    EXPECT_EQ(error.reason(), "output_invalid");
    EXPECT_EQ(error.pointer(), "/pages");
    EXPECT_EQ(error.text(), R"({"pages":90})");
  }
  // Text is passed on as it is: nobody has asked for a value.
  EXPECT_EQ(Client(altered).run(options).text, R"({"pages":90})");
}

// "Accept loopDetection and toolBudgets and pass them through unchanged; false opts out, {} clears
// the defaults, entries are added to them."
TEST(Compliance, GuardsArePassedOnUnchanged) {
  EXPECT_EQ(sent({.loop_detection = LoopDetection{.enabled = false}}, "loopDetection"), "false");
  EXPECT_EQ(sent({.loop_detection = LoopDetection{.consecutive_threshold = 4}}, "loopDetection"),
            R"({"consecutiveThreshold":4})");
  EXPECT_EQ(sent({}, "loopDetection"), "nothing");
  EXPECT_EQ(sent({.tool_budgets = std::map<std::string, int>()}, "toolBudgets"), "{}");
  EXPECT_EQ(sent({.tool_budgets = {{{"echo", 2}}}}, "toolBudgets"), R"({"echo":{"maxCalls":2}})");
  EXPECT_EQ(sent({}, "toolBudgets"), "nothing");
}

// What the guards of a run tell, and the text that it ends with.
std::vector<std::string> guards_of(const TestServer& server, RunOptions options) {
  std::vector<std::string> lines;
  Client client(server.options());
  for (const Event& event : client.stream(std::move(options))) {
    if (const auto* one = event.as<ToolBudgetExceeded>()) {
      lines.push_back(
          cat("call ", one->call_index, " of ", one->tool, ", which may have ", one->max_calls));
    }
    if (const auto* one = event.as<LoopDetected>()) {
      lines.push_back(cat(one->count, " times"));
      for (const std::string& tool : one->tools) append(lines.back(), " ", tool);
      if (one->hard_cutoff) lines.back() += ", without tools from here";
    }
    if (const auto* end = event.as<RunEnded>()) lines.push_back(end->reply.text);
  }
  return lines;
}

// "Treat loop_detected and tool_budget_exceeded as observability-only, and keep reading the stream
// until the terminal event."
TEST(Compliance, GuardsThatActAreEventsAndTheStreamGoesOn) {
  TestServer server(R"({"turns":[
      {"toolCalls":[{"name":"echo","args":{"word":"a"}}]},
      {"toolCalls":[{"name":"echo","args":{"word":"b"}}]},
      {"text":["Done."]}]})");
  EXPECT_EQ(
      guards_of(server, {.prompt = "Go.", .tools = {echo()}, .tool_budgets = {{{"echo", 1}}}}),
      (std::vector<std::string>{"call 2 of echo, which may have 1", "Done."}));
}

TEST(Compliance, ALoopIsAnEventEachTimeAndTheStreamGoesOn) {
  TestServer server(R"({"turns":[
      {"toolCalls":[{"name":"echo","args":{"word":"a"}}]},
      {"toolCalls":[{"name":"echo","args":{"word":"a"}}]},
      {"toolCalls":[{"name":"echo","args":{"word":"a"}}]},
      {"text":["Done."]}]})");
  LoopDetection limits{.consecutive_threshold = 2, .hard_cutoff_threshold = 3};
  EXPECT_EQ(
      guards_of(server, {.prompt = "Go.", .tools = {echo()}, .loop_detection = limits}),
      (std::vector<std::string>{"2 times echo", "3 times echo, without tools from here", "Done."}));
}

// "Keep local callbacks by name: local tools, local A2A peers, local MCP servers", "dispatch by the
// event's kind": calls of all three kinds are answered by the tool of their name.
TEST(Compliance, CallsOfEveryLocalKindAreAnsweredByName) {
  TestServer server(R"({"turns":[
      {"toolCalls":[{"name":"echo","args":{"word":"a"}},{"name":"fs_read","args":{"path":"x"}},
                    {"name":"peer","args":{"message":"hi"}}]},
      {"text":["Done."]}]})");
  Client client(server.options());
  Json card = Json::parse(R"({"name":"Peer","description":"A peer.","url":"https://peer.example",
      "version":"1","protocolVersion":"0.3.0","capabilities":{},"defaultInputModes":["text"],
      "defaultOutputModes":["text"],"skills":[]})")
                  .value();
  Json peer = Json::object({{"kind", "a2a_local"}, {"name", "peer"}, {"agentCard", card}});
  Json files =
      Json::parse(R"({"kind":"mcp_local","name":"fs","serverInfo":{"name":"fs","version":"1"},
      "tools":[{"name":"fs_read","description":"Reads.","inputSchema":{"type":"object",
                "properties":{"path":{"type":"string"}}}}]})")
          .value();
  Json local = Json::parse(R"({"kind":"local","name":"echo","description":"Echo.",
      "parameters":{"type":"object","properties":{"word":{"type":"string"}}}})")
                   .value();
  std::string run =
      client.start({.prompt = "Go.", .server_tools = {peer, files, local}, .answer_calls = false});
  json::Object spec = spec_of(server.options(), run);
  EXPECT_NE(member(spec, "tools").find(R"("url":"https://peer.example")"), std::string::npos);
  EXPECT_NE(member(spec, "tools").find(R"("name":"fs_read")"), std::string::npos);
  auto named = [](const char* name) {
    return tool(name, "", [name](const Json&) { return std::string("by ") + name; });
  };
  RunStream stream =
      client.attach(run, {.tools = {named("echo"), named("fs_read"), named("peer")}});
  std::vector<std::string> answers;
  for (const Event& event : stream) {
    const auto* answer = event.as<ToolAnswered>();
    if (answer) answers.push_back(answer->tool + " " + answer->text);
  }
  std::ranges::sort(answers);
  EXPECT_EQ(answers,
            (std::vector<std::string>{"echo by echo", "fs_read by fs_read", "peer by peer"}));
}

// "Dispatch by the event's kind, defaulting to local when omitted."
TEST(Compliance, ACallWhoseEventHasNoKindIsOneOfALocalTool) {
  TestServer server(kEcho);
  TestWire wire(server.options().server,
                {.replaced = R"("kind":"local")", .by = R"("kund":"local")"});
  ClientOptions options = server.options();
  options.server = wire.url();
  EXPECT_EQ(Client(options).run({.prompt = "Go.", .tools = {echo()}}).text, "Done.");
  EXPECT_GT(wire.replacements(), 0);
  EXPECT_EQ(wire.count("/tool-results"), 1);
}

// Newer servers say more.
TEST(Compliance, AnEventOfAnUnknownTypeIsAValueAndTheStreamGoesOn) {
  TestServer server(kDone);
  TestWire wire(server.options().server, {.replaced = "assistant_delta", .by = "assistant_dance"});
  ClientOptions options = server.options();
  options.server = wire.url();
  Client client(options);
  std::vector<std::string> unknown;
  std::string text;
  for (const Event& event : client.stream({.prompt = "Go."})) {
    if (const auto* one = event.as<UnknownEvent>()) {
      unknown.push_back(one->type + " " + one->fields.dump());
    }
    if (const auto* end = event.as<RunEnded>()) text = end->reply.text;
  }
  EXPECT_EQ(unknown, std::vector<std::string>{R"(assistant_dance {"text":"Done."})"});
  EXPECT_EQ(text, "Done.");
}

// An MCP server that says these texts of itself and of its tool, as a program that speaks over its
// standard streams. The texts have no apostrophes.
class McpProgram final {
 public:
  McpProgram(std::string_view info, std::string_view tool) {
    std::string name = testing::TempDir() + "errand-mcp-XXXXXX";
    ::close(::mkstemp(name.data()));
    path_ = name;
    std::ofstream(path_) << R"(answer() {
  read -r line
  id=$(printf %s "$line" | sed "s/.*\"id\":\([0-9]*\).*/\1/")
  printf "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}\n" "$id" "$1"
}
answer '"error":{"code":-32601,"message":"no such method"}'
answer '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":)"
                         << info << R"(}'
read -r initialized
answer '"result":{"tools":[)"
                         << tool << R"(]}'
cat > /dev/null
)";
  }
  ~McpProgram() { std::filesystem::remove(path_); }
  McpProgram(const McpProgram&) = delete;
  McpProgram& operator=(const McpProgram&) = delete;

  std::string command() const { return "sh " + path_; }

 private:
  std::string path_;
};

// "Speak Initialize and tools/list locally, and ship the verbatim result as serverInfo and tools."
// The names of tools are the SDK's to choose.
TEST(Compliance, AnMcpServerIsAskedHereAndShippedAsItDescribesItself) {
  constexpr std::string_view kInfo =
      R"({"name":"files","title":"Files","version":"1.2","websiteUrl":"https://e.org"})";
  constexpr std::string_view kTool = R"({"name":"read","title":"Read","description":"Reads.",
      "inputSchema":{"type":"object","properties":{"path":{"type":"string"}}},
      "annotations":{"title":"Read a file","readOnlyHint":true,"x":1},
      "icons":[{"src":"https://e.org/i.png"}],"_meta":{"e.org/x":[1]}})";
  std::string on_one_line(kTool);
  std::erase(on_one_line, '\n');
  McpProgram program(kInfo, on_one_line);
  auto shipped = json::parse(sent({.mcp_servers = {local_mcp(program.command())}}, "tools"));
  json::Value tool = json::parse(kTool).value();
  tool.as_object()["name"] = "files_read";
  json::Object expected{{"kind", "mcp_local"},
                        {"name", "files"},
                        {"serverInfo", json::parse(kInfo).value()},
                        {"tools", json::Array{tool}}};
  EXPECT_EQ(shipped.value(), json::Value(json::Array{json::Value(expected)}));
}

// What is at a URL.
json::Value fetched(const std::string& url, const std::string& key) {
  asio::io_context io(1);
  net::HttpClient http{net::ClientOptions()};
  auto answer =
      run_task(io, http.send({.url = url, .headers = {{"Authorization", "Bearer " + key}}}));
  return json::parse(answer.value().body).value();
}

// "Resolve the Agent Card locally and ship it as agentCard."
TEST(Compliance, TheCardOfAnAgentIsFetchedHereAndShippedAsItIs) {
  TestServer there(kDone);
  const ClientOptions options = there.options();
  AgentSpec agent;
  agent.name = "friend";
  agent.description = "Knows the time.";
  Client(options).create_agent(agent);
  const std::string card =
      options.server + "/api/a2a/default/agents/friend/.well-known/agent-card.json";
  A2aAgent peer =
      local_a2a(card, {.name = "friend", .headers = {{"Authorization", "Bearer " + options.key}}});
  auto shipped = json::parse(sent({.a2a_agents = {peer}}, "tools"));
  const json::Object& ref = shipped.value().as_array().at(0).as_object();
  EXPECT_EQ(member(ref, "kind"), R"("a2a_local")");
  EXPECT_EQ(member(ref, "name"), R"("friend")");
  EXPECT_EQ(ref.at("agentCard"), fetched(card, options.key));
}

// "For local tools, serialize parameters to JSON Schema, forward an output schema, and surface
// longRunning."
TEST(Compliance, ALocalToolCarriesItsSchemasAndItsHint) {
  TestServer server(kDone);
  Client client(server.options());
  Reply reply = client.run({.prompt = "Go.", .tools = {echo()}});
  json::Object sent = spec_of(server.options(), reply.run_id);
  const json::Object& local = sent.at("tools").as_array().at(0).as_object();
  EXPECT_EQ(member(local, "kind"), R"("local")");
  EXPECT_EQ(member(local, "parameters"), schema_of<Word>().dump());
  EXPECT_EQ(member(local, "outputSchema"), schema_of<Echoed>().dump());
  EXPECT_EQ(member(local, "longRunning"), "true");
}

// "Validate args against the tool's schema, run it, post the result."
TEST(Compliance, ArgumentsAreCheckedBeforeTheHandlerRuns) {
  TestServer server(R"({"turns":[
      {"toolCalls":[{"name":"echo","args":{"word":7}}]},{"text":["Done."]}]})");
  Client client(server.options());
  std::vector<ToolAnswered> answers;
  for (const Event& event : client.stream({.prompt = "Go.", .tools = {echo()}})) {
    if (const auto* answer = event.as<ToolAnswered>()) answers.push_back(*answer);
  }
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_FALSE(answers.front().ok);
  EXPECT_NE(answers.front().text.find("/word"), std::string::npos) << answers.front().text;
}

// "On the terminal result, error or cancelled event, close the stream."
TEST(Compliance, AStreamEndsWithTheTerminalEvent) {
  for (const char* turns : {R"({"turns":[{"text":["Done."]}]})",
                            R"({"turns":[{"error":{"status":400,"code":"bad"}}]})"}) {
    TestServer server(turns);
    Client client(server.options());
    RunStream stream = client.stream({.prompt = "Go."});
    std::optional<Event> last;
    while (auto event = stream.next()) last = std::move(event);
    ASSERT_TRUE(last);
    EXPECT_TRUE(last->as<RunEnded>());
    EXPECT_FALSE(stream.next());
  }
}

// "Only post one tool-result per toolUseId. Treat 409 run_terminal as a normal late arrival."
TEST(Compliance, EachCallIsAnsweredOnceAndALateAnswerIsNoFailure) {
  TestServer server(kEcho);
  TestWire wire(server.options().server);
  ClientOptions options = server.options();
  options.server = wire.url();
  std::vector<std::string> logged;
  options.handlers.log = [&logged](LogLevel, std::string_view line) { logged.emplace_back(line); };
  {
    Client client(options);
    EXPECT_EQ(client.run({.prompt = "Go.", .tools = {echo()}}).text, "Done.");
    EXPECT_EQ(wire.count("/tool-results"), 1);

    std::promise<void> begun;
    std::promise<void> over;
    Tool slow = tool("echo", "", [&](const Word&) {
      begun.set_value();
      over.get_future().wait();
      return "late";
    });
    RunStream stream = client.stream({.prompt = "Go.", .tools = {slow}});
    begun.get_future().wait();
    stream.cancel();
    EXPECT_EQ(stream.try_reply().error().code(), ErrorCode::cancelled);
    over.set_value();
  }
  EXPECT_EQ(logged, std::vector<std::string>());
}

// "Reconnects: send Last-Event-ID to resume, and rely on the log for missed events."
TEST(Compliance, ACutStreamGoesOnWhereItWas) {
  TestServer server(kEcho);
  TestWire wire(server.options().server, {.cut_at = "event: assistant_message"});
  ClientOptions options = server.options();
  options.server = wire.url();
  Client client(options);
  std::vector<std::int64_t> seqs;
  bool was_lost = false;
  for (const Event& event : client.stream({.prompt = "Go.", .tools = {echo()}})) {
    if (event.as<ConnectionLost>()) was_lost = true;
    if (event.seq > 0) seqs.push_back(event.seq);
  }
  EXPECT_TRUE(was_lost);
  EXPECT_TRUE(std::ranges::is_sorted(seqs));
  EXPECT_EQ(std::ranges::adjacent_find(seqs), seqs.end());
  EXPECT_GE(wire.count("Last-Event-ID: "), 2);
}

}  // namespace
}  // namespace errand::v1::compliance_test
