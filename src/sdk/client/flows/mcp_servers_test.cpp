// MCP servers that a program gives to its runs.

#include <errand/runtime.hpp>
#include <errand/testing.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <latch>
#include <mutex>
#include <thread>

#include "json/member_text.hpp"
#include "net/server/test_support.hpp"
#include "sdk/client/flows/test_server.hpp"

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

// A server as a shell script with one tool, which says $WORD and then ends the program.
constexpr std::string_view kProgram = R"sh(
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  head='{"jsonrpc":"2.0","id":'$id
  case "$line" in
    *server/discover*) echo "$head"',"error":{"code":-32601,"message":"?"}}' ;;
    *'"initialize"'*)
      echo "$head"',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},' \
           '"serverInfo":{"name":"sh","version":"1"}}}' ;;
    *tools/list*)
      echo "$head"',"result":{"tools":[{"name":"say","inputSchema":{"type":"object"}}]}}' ;;
    *tools/call*)
      echo "$head"',"result":{"content":[{"type":"text","text":"'"$WORD"'"}]}}'
      exit ;;
  esac
done
)sh";

TEST(McpServers, AProgramIsStartedWithItsVariablesAndStartedAgain) {
  const std::filesystem::path script = std::filesystem::path(testing::TempDir()) / "mcp_server.sh";
  std::ofstream(script) << kProgram;
  McpServer there = local_mcp("sh '" + script.string() + "'", {.environment = {{"WORD", "hi"}}});
  for (int run = 0; run < 2; ++run) {
    auto model = scripted({{.calls = {{"sh_say", Json::object()}}}, {.text = "Done."}});
    Runtime runtime({.models = {{.id = "s", .model = model}}});
    for (int turn = 0; turn < 2; ++turn) {
      EXPECT_EQ(runtime.run({.prompt = "Go.", .mcp_servers = {there}}).text, "Done.");
      EXPECT_EQ(result_of(model->questions().back()), "hi");
    }
  }
  std::filesystem::remove(script);
}

// A server of the protocol from 2024: answers come on a stream that is open all the time.
class SseServer final {
 public:
  std::string url() const { return "http://127.0.0.1:" + std::to_string(web_.port()) + "/sse"; }

 private:
  // Lives on the server's loop, as the feed does.
  struct Stream {
    std::string frames = "event: endpoint\ndata: /messages\n\n";
    Wakeup* bell = nullptr;
    bool is_over = false;
  };

  class Feed final : public net::EventFeed {
   public:
    explicit Feed(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}
    Task<Chunk> read(SteadyTime /*deadline*/) override {
      WakeupAt bell(co_await asio::this_coro::executor, stream_->bell);
      while (stream_->frames.empty() && !stream_->is_over) co_await bell.wait();
      if (stream_->is_over) co_return Chunk{.state = State::broken};
      co_return Chunk{.frames = std::exchange(stream_->frames, {})};
    }
    void interrupt() override {
      stream_->is_over = true;
      if (stream_->bell) stream_->bell->notify();
    }

   private:
    const std::shared_ptr<Stream> stream_;
  };

  static std::string result_for(std::string_view method) {
    if (method == "\"initialize\"") {
      return R"({"protocolVersion":"2024-11-05","capabilities":{"tools":{}},
                 "serverInfo":{"name":"old","version":"1"}})";
    }
    if (method == "\"tools/list\"") {
      return R"({"tools":[{"name":"say","inputSchema":{"type":"object"}}]})";
    }
    return R"({"content":[{"type":"text","text":"by a stream"}]})";
  }

  Task<net::Response> answer(net::Request request) {
    if (request.method == net::Method::get) {
      net::Response response;
      response.content_type = "text/event-stream";
      response.events = std::make_unique<Feed>(stream_);
      co_return response;
    }
    if (request.path != "/messages") co_return net::Response{.status = 404};
    const std::string_view id = json::member_text(request.body, "id");
    if (!id.empty()) {
      std::string result = result_for(json::member_text(request.body, "method"));
      std::erase(result, '\n');
      append(stream_->frames, "data: {\"jsonrpc\":\"2.0\",\"id\":", id, ",\"result\":", result,
             "}\n\n");
      if (stream_->bell) stream_->bell->notify();
    }
    co_return net::Response{.status = 202};
  }

  const std::shared_ptr<Stream> stream_ = std::make_shared<Stream>();
  net::test::TestServer web_{[this](net::Request request) { return answer(std::move(request)); }};
};

TEST(McpServers, AServerOfTheOldestTransportIsReached) {
  SseServer server;
  auto model = scripted({{.calls = {{"old_say", Json::object()}}}, {.text = "Done."}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  EXPECT_EQ(runtime.run({.prompt = "Go.", .mcp_servers = {local_mcp(server.url())}}).text, "Done.");
  EXPECT_EQ(result_of(model->questions().at(1)), "by a stream");
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
