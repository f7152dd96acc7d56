// A server of the program, as a client at two streams finds it.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>
#include <errand/mcp.hpp>

#include <array>
#include <atomic>
#include <future>
#include <latch>
#include <string>
#include <thread>

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::sdk::server_test {
namespace {

using v1::ToolContext;
using v1::Toolkit;
using v1::mcp::Server;
using v1::mcp::ServerOptions;

struct Text {
  std::string text = "";
};

struct Length {
  std::size_t length = 0;
};

// A client of the server, which is served on a thread of its own until the client goes.
class Talk final {
 public:
  explicit Talk(const Server& server) {
    std::array<int, 2> there{};
    std::array<int, 2> back{};
    EXPECT_EQ(::pipe(there.data()), 0);
    EXPECT_EQ(::pipe(back.data()), 0);
    output_ = there[1];
    input_ = back[0];
    serving_ = std::thread([server, in = there[0], out = back[1]] {
      server.serve_stdio(in, out);
      ::close(in);
      ::close(out);
    });
  }
  ~Talk() {
    ::close(output_);
    serving_.join();
    ::close(input_);
  }
  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;

  void send(const json::Object& message) const {
    std::string line = json::write(message) + "\n";
    EXPECT_EQ(::write(output_, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  void request(std::string_view method, json::Object params = {}) {
    send({{"jsonrpc", "2.0"}, {"id", ++last_id_}, {"method", method}, {"params", params}});
  }
  // The next message of the server.
  json::Object receive() {
    std::string line;
    char byte = 0;
    while (::read(input_, &byte, 1) == 1 && byte != '\n') line += byte;
    auto message = json::parse(line);
    EXPECT_TRUE(message) << line;
    return message ? message->as_object() : json::Object();
  }
  // The answer to a request, and nothing before it.
  json::Object ask(std::string_view method, json::Object params = {}) {
    request(method, std::move(params));
    json::Object answer = receive();
    EXPECT_EQ(answer["id"], last_id_) << json::write(answer);
    return answer;
  }
  void initialize(json::Object capabilities = {}) {
    ask("initialize", {{"protocolVersion", "2025-11-25"},
                       {"capabilities", std::move(capabilities)},
                       {"clientInfo", json::Object{{"name", "test"}, {"version", "1"}}}});
  }
  // A request of the modern era.
  json::Object ask_modern(std::string_view method, json::Object params) {
    params["_meta"] = json::Object{{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                                   {"io.modelcontextprotocol/clientCapabilities",
                                    json::Object{{"elicitation", json::Object()}}}};
    return ask(method, std::move(params));
  }

 private:
  int input_ = -1;
  int output_ = -1;
  int last_id_ = 0;
  std::thread serving_;
};

std::string text_of(const json::Object& answer) {
  const json::Object* result = json::object_at(&answer, "result");
  const json::Array* content = json::array_at(result, "content");
  if (!content || content->empty()) return json::write(answer);
  return std::string(json::text_at(content->at(0).if_object(), "text"));
}

json::Object call(std::string_view tool, json::Object arguments = {}) {
  return {{"name", tool}, {"arguments", std::move(arguments)}};
}

v1::Tool echo() {
  return v1::tool("echo", "Echoes.", [](const Text& given) { return given.text; });
}

template <class Handler>
Server server_with(std::string name, Handler handler, v1::ToolOptions options = {}) {
  return Server(
      ServerOptions{.name = "test", .tools = {v1::tool(std::move(name), "", handler, options)}});
}

TEST(McpServer, TellsWhatItsToolkitSays) {
  Talk talk(Toolkit({.name = "calc",
                     .title = "Calculator",
                     .description = "Counts.",
                     .version = "2.1",
                     .rules = {"Count twice."},
                     .tools = {echo()}}));
  json::Object answer = talk.ask("initialize", {{"protocolVersion", "2025-11-25"}});
  EXPECT_EQ(json::write(answer["result"].at("serverInfo")),
            R"({"name":"calc","version":"2.1","title":"Calculator"})");
  EXPECT_EQ(answer["result"].at("instructions"), "Counts.\n- Count twice.");
  EXPECT_FALSE(answer["result"].at("capabilities").as_object().contains("prompts"));
  json::Object tools = talk.ask("tools/list");
  EXPECT_EQ(tools["result"].at("tools").as_array().at(0).at("name"), "echo");
}

TEST(McpServer, CallsItsTools) {
  Talk talk(Server(ServerOptions{.name = "test",
                                 .tools = {echo(), v1::tool("measure", "", [](const Text& given) {
                                             return Length{given.text.size()};
                                           })}}));
  talk.initialize();
  EXPECT_EQ(text_of(talk.ask("tools/call", call("echo", {{"text", "hi"}}))), "hi");
  json::Object measured = talk.ask("tools/call", call("measure", {{"text", "four"}}));
  EXPECT_EQ(json::write(measured["result"].at("structuredContent")), R"({"length":4})");
  json::Object wrong = talk.ask("tools/call", call("echo", {{"text", 3}}));
  EXPECT_EQ(wrong["result"].at("isError"), true);
  EXPECT_EQ(talk.ask("tools/call", call("none"))["error"].at("code"), -32602);
}

TEST(McpServer, TellsProgressAndLogBeforeTheAnswer) {
  Talk talk(server_with("work", [](ToolContext& context) {
    context.progress("half", 1, 2);
    context.log(v1::LogLevel::warning, "slow");
    context.log(v1::LogLevel::debug, "not wanted");
    return "done";
  }));
  talk.initialize();
  json::Object params = call("work");
  params["_meta"] = json::Object{{"progressToken", "p"}};
  talk.request("tools/call", std::move(params));
  json::Object progress = talk.receive();
  EXPECT_EQ(progress["method"], "notifications/progress");
  EXPECT_EQ(progress["params"].at("message"), "half");
  json::Object line = talk.receive();
  EXPECT_EQ(json::write(line["params"]), R"({"level":"warning","data":"slow"})");
  EXPECT_EQ(text_of(talk.receive()), "done");
}

TEST(McpServer, ACancelReachesTheHandler) {
  std::latch begun(1);
  std::promise<void> seen;
  Talk talk(server_with("wait", [&](ToolContext& context) {
    begun.count_down();
    while (!context.cancelled()) std::this_thread::yield();
    seen.set_value();
  }));
  talk.initialize();
  talk.request("tools/call", call("wait"));
  begun.wait();
  talk.send({{"jsonrpc", "2.0"},
             {"method", "notifications/cancelled"},
             {"params", json::Object{{"requestId", 2}}}});
  seen.get_future().wait();
  EXPECT_EQ(talk.ask("ping")["id"], 3);  // and no answer to the call before
}

TEST(McpServer, AClientThatGoesIsACancel) {
  std::latch begun(1);
  std::atomic<bool> was_cancelled = false;
  {
    Talk talk(server_with("wait", [&](ToolContext& context) {
      begun.count_down();
      while (!context.cancelled()) std::this_thread::yield();
      was_cancelled = true;
    }));
    talk.initialize();
    talk.request("tools/call", call("wait"));
    begun.wait();
  }
  EXPECT_TRUE(was_cancelled);
}

TEST(McpServer, ToolsThatAreNotParallelSafeWaitForEachOther) {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  Talk talk(server_with("alone",
                        [&] {
                          int now = ++running;
                          if (now > most) most = now;
                          std::this_thread::yield();
                          --running;
                        },
                        {.parallel_safe = false}));
  talk.initialize();
  for (int i = 0; i < 50; ++i) talk.request("tools/call", call("alone"));
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(talk.receive().contains("result"));
  EXPECT_EQ(most, 1);
}

std::string ask_name(ToolContext& context) {
  v1::mcp::Caller client = v1::mcp::Caller::of(context);
  if (!client.can_elicit()) return "nobody can be asked";
  v1::mcp::Elicited first = client.elicit({.message = "Name?", .schema = v1::Json::object()});
  v1::mcp::Elicited second = client.elicit({.message = "Town?", .schema = v1::Json::object()});
  return first.content.dump() + second.content.dump();
}

TEST(McpServer, AsksAClientThatWaits) {
  Talk talk(server_with("ask", ask_name));
  talk.initialize({{"elicitation", json::Object()}});
  talk.request("tools/call", call("ask"));
  for (std::string_view word : {"Name?", "Town?"}) {
    json::Object asked = talk.receive();
    EXPECT_EQ(asked["method"], "elicitation/create");
    EXPECT_EQ(asked["params"].at("message"), json::Value(word));
    json::Object result{{"action", "accept"}, {"content", json::Object{{"is", word}}}};
    talk.send({{"jsonrpc", "2.0"}, {"id", asked["id"]}, {"result", std::move(result)}});
  }
  EXPECT_EQ(text_of(talk.receive()), R"({"is":"Name?"}{"is":"Town?"})");
}

TEST(McpServer, AClientThatCannotBeAskedIsNotAsked) {
  Talk talk(server_with("ask", ask_name));
  talk.initialize();
  EXPECT_EQ(text_of(talk.ask("tools/call", call("ask"))), "nobody can be asked");
}

TEST(McpServer, AsksAClientOfTheModernEraInRounds) {
  Talk talk(server_with("ask", ask_name));
  json::Object params = call("ask");
  json::Object answer;
  for (std::string_view word : {"Name?", "Town?"}) {
    answer = talk.ask_modern("tools/call", params);
    ASSERT_EQ(answer["result"].at("resultType"), "input_required") << json::write(answer);
    const json::Object& requests = answer["result"].at("inputRequests").as_object();
    ASSERT_EQ(requests.size(), 1U);  // what was answered before is not asked again
    EXPECT_EQ(requests.begin()->value().at("params").at("message"), json::Value(word));
    json::Object given{{"action", "accept"}, {"content", json::Object{{"is", word}}}};
    params["inputResponses"] = json::Object{{requests.begin()->key(), given}};
    params["requestState"] = answer["result"].at("requestState");
  }
  EXPECT_EQ(text_of(talk.ask_modern("tools/call", params)), R"({"is":"Name?"}{"is":"Town?"})");
  params["requestState"] = "forged." + std::string(64, '0');
  EXPECT_EQ(talk.ask_modern("tools/call", params)["error"].at("code"), -32602);
}

TEST(McpServer, HasPromptsResourcesAndCompletion) {
  Talk talk(Server(ServerOptions{
      .name = "test",
      .prompts = {{.name = "greet",
                   .arguments = {{.name = "name", .required = true}},
                   .get = [](ToolContext&,
                             const v1::mcp::Arguments& given) { return "Hi " + given.at("name"); },
                   .complete =
                       [](const std::string&, const std::string& typed) {
                         return std::vector<std::string>{typed + "da"};
                       }}},
      .resources = {{.uri = "a://b",
                     .name = "b",
                     .mime_type = "text/plain",
                     .read = [](ToolContext&) { return "B"; }}},
      .templates = {{.uri_template = "a://n/{n}",
                     .name = "n",
                     .read = [](ToolContext&, const std::string&,
                                const v1::mcp::Arguments& given) -> std::string {
                       if (given.at("n") == "0") throw std::runtime_error("zero");
                       return given.at("n");
                     }}}}));
  talk.initialize();
  json::Object prompt{{"name", "greet"}, {"arguments", json::Object{{"name", "Ada"}}}};
  EXPECT_EQ(talk.ask("prompts/get", prompt)["result"].at_pointer("/messages/0/content/text"),
            "Hi Ada");
  EXPECT_EQ(talk.ask("prompts/get", {{"name", "greet"}})["error"].at("code"), -32602);
  auto read = [&talk](std::string_view uri) { return talk.ask("resources/read", {{"uri", uri}}); };
  EXPECT_EQ(json::write(read("a://b")["result"].at_pointer("/contents/0")),
            R"({"uri":"a://b","mimeType":"text/plain","text":"B"})");
  EXPECT_EQ(read("a://n/7")["result"].at_pointer("/contents/0/text"), "7");
  EXPECT_EQ(read("a://n/0")["error"].at("code"), -32603);
  EXPECT_EQ(read("a://none")["error"].at("data").at("uri"), "a://none");
  json::Object completion{{"ref", json::Object{{"type", "ref/prompt"}, {"name", "greet"}}},
                          {"argument", json::Object{{"name", "name"}, {"value", "A"}}}};
  EXPECT_EQ(
      talk.ask("completion/complete", completion)["result"].at_pointer("/completion/values/0"),
      "Ada");
}

TEST(McpServer, TellsWhatHasChanged) {
  Server server(ServerOptions{
      .name = "test",
      .tools = {echo()},
      .resources = {{.uri = "a://b", .name = "b", .read = [](ToolContext&) { return "B"; }}}});
  Talk talk(server);
  talk.initialize();
  talk.ask("resources/subscribe", {{"uri", "a://b"}});
  server.resource_updated("a://other");
  server.resource_updated("a://b");
  json::Object updated = talk.receive();
  EXPECT_EQ(updated["method"], "notifications/resources/updated");
  EXPECT_EQ(updated["params"].at("uri"), "a://b");
  server.set_toolkits({});
  EXPECT_EQ(talk.receive()["method"], "notifications/tools/list_changed");
  EXPECT_TRUE(talk.ask("tools/list")["result"].at("tools").as_array().empty());
}

template <class Make>
v1::ErrorCode code_of(Make make) {
  try {
    make();
  } catch (const v1::Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return v1::ErrorCode::internal;
}

TEST(McpServer, RefusesWhatIsWrongAtOnce) {
  EXPECT_EQ(code_of([] { Server(ServerOptions{}); }), v1::ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] {
              Server({.toolkits = {Toolkit({.name = "a", .tools = {echo()}}),
                                   Toolkit({.name = "b", .tools = {echo()}})}});
            }),
            v1::ErrorCode::conflict);
  EXPECT_EQ(code_of([] { Server({.name = "x", .prompts = {{.name = "p"}}}); }),
            v1::ErrorCode::invalid_argument);
  Server server = server_with("none", [] {});
  EXPECT_EQ(code_of([&] { server.serve_stdio(-1, -1); }), v1::ErrorCode::unavailable);
  EXPECT_EQ(code_of([&] { (void)server.serve_http({.host = "0.0.0.0"}); }),
            v1::ErrorCode::invalid_argument);
  auto serving = server.serve_http();
  EXPECT_EQ(code_of([&] { (void)server.serve_http({.port = serving.port()}); }),
            v1::ErrorCode::unavailable);
}

TEST(McpServer, ACallFromElsewhereHasNoClient) {
  ToolContext context;
  EXPECT_EQ(code_of([&] { v1::mcp::Caller::of(context); }), v1::ErrorCode::not_found);
}

}  // namespace
}  // namespace errand::sdk::server_test
