#include "mcp/server/server_session.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/descriptor.hpp"
#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/schema.hpp"
#include "json/write.hpp"
#include "mcp/client/client.hpp"
#include "mcp/codec.hpp"
#include "mcp/server/stdio_server_connection.hpp"
#include "rpc/memory_connection.hpp"
#include "support/run_task.hpp"

namespace errand::mcp::server_session_test {
namespace {

namespace fs = std::filesystem;

const fs::path kSchemas = fs::path(ERRAND_SOURCE_DIR) / ".." / "shared" / "data" / "mcp-schema";

void report_bug(const char* task, const std::string& what) {
  ADD_FAILURE() << task << ": " << what;
}

// A server with one of everything.
class Everything final : public ServerFeatures {
 public:
  ServerOffer offer() const override {
    return {.server = {.name = "e", .version = "1"},
            .instructions = "Use it.",
            .tools = true,
            .prompts = true,
            .resources = true,
            .resource_changes = true,
            .completions = true,
            .logging = true};
  }
  Task<Result<std::vector<Tool>>> tools() override {
    std::vector<Tool> out;
    for (int i = 0; i < tool_count; ++i) {
      out.push_back({.name = cat("t", i), .input_schema = {{"type", "object"}}});
    }
    co_return out;
  }
  Task<Result<CallOutcome>> call_tool(ServeToolParams params, ServedCall* call) override {
    if (params.name == "t0") {
      call->report({.progress = 1, .total = 2});
      call->log(LogLevel::debug, "tool", json::Value("too fine"));
      call->log(LogLevel::warning, "tool", json::Value("careful"));
      co_return CallOutcome(
          CallToolResult{.content = {TextContent{json::write(params.arguments)}}});
    }
    if (params.name == "ask" && call->era() == Era::modern) {
      if (!params.input_responses.empty()) {
        co_return CallOutcome(
            CallToolResult{.content = {TextContent{
                               cat(json::write(params.input_responses), *params.request_state)}}});
      }
      co_return CallOutcome(
          InputRequired{.requests = {{"r", {.method = "roots/list", .params = {}}}}, .state = "s"});
    }
    if (params.name == "ask") {
      auto roots = co_await call->ask("roots/list", {});
      co_return CallOutcome(CallToolResult{
          .content = {TextContent{roots ? json::write(*roots) : roots.error().message()}},
          .is_error = !roots});
    }
    co_return Error(ErrorCode::not_found, cat("there is no tool ", params.name));
  }
  Task<Result<std::vector<Prompt>>> prompts() override {
    co_return std::vector<Prompt>{
        {.name = "p", .arguments = {{.name = "a", .description = "d", .is_required = true}}}};
  }
  Task<Result<PromptOutcome>> get_prompt(GetPromptParams params, ServedCall* /*call*/) override {
    co_return PromptOutcome(GetPromptResult{
        .description = "d",
        .messages = {{.role = "user", .content = TextContent{params.arguments["a"]}}}});
  }
  Task<Result<std::vector<Resource>>> resources() override {
    co_return std::vector<Resource>{{.uri = "x://a", .name = "a", .mime_type = "text/plain"}};
  }
  Task<Result<std::vector<ResourceTemplate>>> resource_templates() override {
    co_return std::vector<ResourceTemplate>{{.uri_template = "x://{id}", .name = "t"}};
  }
  Task<Result<std::vector<EmbeddedResource>>> read_resource(std::string uri,
                                                            ServedCall* /*call*/) override {
    if (uri != "x://a") co_return Error(ErrorCode::not_found, "there is no such resource");
    co_return std::vector<EmbeddedResource>{{.uri = uri, .mime_type = "", .body = TextBody{"A"}}};
  }
  Task<Result<Completion>> complete(CompleteParams params, ServedCall* /*call*/) override {
    co_return Completion{.values = std::vector<std::string>(150, params.value)};
  }

  int tool_count = 1;
};

class ServerSessionTest : public testing::Test, public rpc::Handler {
 protected:
  ServerSessionTest() {
    auto [ours, theirs] = rpc::make_connection_pair(io_.get_executor());
    ours_ = std::move(ours);
    theirs_ = std::move(theirs);
    server_ = std::make_unique<rpc::Peer>(io_.get_executor(), *ours_, session_, report_bug);
    client_ = std::make_unique<rpc::Peer>(io_.get_executor(), *theirs_, *this, report_bug);
    server_->start();
    client_->start();
  }
  ~ServerSessionTest() override {
    run_task(io_, client_->stop());
    run_task(io_, server_->stop());
    run_task(io_, calls_.stop(CancelReason::shutdown));
  }

  // The client's side.
  Task<rpc::Answer> handle(rpc::Request request, rpc::ServedRequest*) override {
    if (request.method != "roots/list") co_return rpc::Answer(rpc::RpcError{});
    co_return rpc::Answer(json::Value(to_json(std::vector<Root>{{.uri = "file:///a"}})));
  }
  void notice(rpc::Notification notification) override {
    noticed_.push_back(cat(notification.method, " ", json::write(notification.params)));
  }

  std::string ask(std::string method, json::Object params = {}, rpc::CallOptions options = {}) {
    auto answer =
        run_task(io_, client_->call(std::move(method), std::move(params), std::move(options)));
    return shown(answer);
  }
  static std::string shown(const Result<rpc::Answer>& answer) {
    if (!answer) return answer.error().describe();
    if (const auto* value = std::get_if<json::Value>(&*answer)) return json::write(*value);
    const auto& error = std::get<rpc::RpcError>(*answer);
    return cat(error.code, " ", error.message);
  }
  std::string ask_modern(std::string method, json::Object params = {}) {
    params["_meta"] = modern_meta({.name = "c", .version = "1"}, {.roots = true});
    return ask(std::move(method), std::move(params));
  }
  std::string initialize(std::string version = "2025-11-25") {
    return ask("initialize", {{"protocolVersion", version},
                              {"capabilities", json::Object{{"roots", json::Object()}}},
                              {"clientInfo", json::Object{{"name", "c"}, {"version", "1"}}}});
  }
  Task<void> listen() {
    json::Object params{
        {"notifications",
         json::Object{{"toolsListChanged", true}, {"resourceSubscriptions", json::Array{"x://a"}}}},
        {"_meta", modern_meta({.name = "c", .version = "1"}, {})}};
    auto answer = co_await client_->call("subscriptions/listen", std::move(params));
    EXPECT_FALSE(answer);
  }

  asio::io_context io_{1};
  Everything features_;
  ServerSession session_{features_};
  std::unique_ptr<rpc::Connection> ours_;
  std::unique_ptr<rpc::Connection> theirs_;
  std::unique_ptr<rpc::Peer> server_;
  std::unique_ptr<rpc::Peer> client_;
  std::vector<std::string> noticed_;
  TaskGroup calls_{io_.get_executor(), report_bug};
};

TEST_F(ServerSessionTest, ALegacyClientMustInitializeFirst) {
  EXPECT_EQ(ask("ping"), "{}");
  EXPECT_EQ(ask("tools/list"), "-32600 the client must initialize first");
  EXPECT_EQ(initialize(),
            R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},)"
            R"("prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},)"
            R"("completions":{},"logging":{}},"serverInfo":{"name":"e","version":"1"},)"
            R"("instructions":"Use it."})");
  EXPECT_EQ(ask("tools/list"), R"({"tools":[{"name":"t0","inputSchema":{"type":"object"}}]})");
}

TEST_F(ServerSessionTest, AVersionThatIsNotKnownGetsTheNewestOne) {
  EXPECT_NE(initialize("2024-11-05").find(R"("protocolVersion":"2024-11-05")"), std::string::npos);
  EXPECT_NE(initialize("1999-01-01").find(R"("protocolVersion":"2025-11-25")"), std::string::npos);
}

TEST_F(ServerSessionTest, AModernRequestNeedsNothingBeforeIt) {
  EXPECT_EQ(ask_modern("tools/list"),
            R"({"tools":[{"name":"t0","inputSchema":{"type":"object"}}],"ttlMs":0,)"
            R"("cacheScope":"private","resultType":"complete",)"
            R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"e","version":"1"}}})");
  EXPECT_EQ(ask_modern("ping"), "-32601 there is no method ping");
  EXPECT_EQ(ask_modern("initialize"), "-32601 there is no method initialize");
}

TEST_F(ServerSessionTest, AModernRequestMustSayWhatTheClientCanDo) {
  json::Object meta{{"io.modelcontextprotocol/protocolVersion", "2026-07-28"}};
  EXPECT_TRUE(ask("tools/list", {{"_meta", meta}}).starts_with("-32602 "));
  meta["io.modelcontextprotocol/protocolVersion"] = "2030-01-01";
  auto answer = run_task(io_, client_->call("tools/list", {{"_meta", meta}})).value();
  EXPECT_EQ(json::write(*std::get<rpc::RpcError>(answer).data),
            R"({"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26"],)"
            R"("requested":"2030-01-01"})");
}

TEST_F(ServerSessionTest, ListsComeInPages) {
  features_.tool_count = 501;
  initialize();
  auto first = json::parse(ask("tools/list")).value();
  EXPECT_EQ(first.at("tools").as_array().size(), 500U);
  EXPECT_EQ(ask("tools/list", {{"cursor", first.at("nextCursor")}}),
            R"({"tools":[{"name":"t500","inputSchema":{"type":"object"}}]})");
  EXPECT_EQ(ask("tools/list", {{"cursor", "x"}}), "-32602 not a cursor of this list (at /cursor)");
  EXPECT_EQ(ask("tools/list", {{"cursor", "999"}}),
            "-32602 not a cursor of this list (at /cursor)");
}

TEST_F(ServerSessionTest, ACallReportsProgressAndLogsAsTheClientWants) {
  initialize();
  int progress = 0;
  rpc::CallOptions options{.on_progress = [&](const rpc::Progress&) { ++progress; }};
  std::string answer = ask("tools/call", {{"name", "t0"}, {"arguments", json::Object{{"x", 1}}}},
                           std::move(options));
  EXPECT_EQ(answer, R"({"content":[{"type":"text","text":"{\"x\":1}"}]})");
  EXPECT_EQ(progress, 1);
  std::string line =
      R"(notifications/message {"level":"warning","data":"careful","logger":"tool"})";
  EXPECT_EQ(noticed_, std::vector<std::string>{line});
  EXPECT_EQ(ask("logging/setLevel", {{"level", "error"}}), "{}");
  ask("tools/call", {{"name", "t0"}});
  EXPECT_EQ(noticed_, std::vector<std::string>{line});
  EXPECT_EQ(ask("logging/setLevel", {{"level", "loud"}}),
            "-32602 expected a log level (at /level)");
}

TEST_F(ServerSessionTest, AnUnknownToolIsAnErrorOfTheRequest) {
  initialize();
  EXPECT_EQ(ask("tools/call", {{"name", "none"}}), "-32602 there is no tool none");
  EXPECT_EQ(ask("tools/call"), "-32602 expected the name of a tool (at /name)");
  EXPECT_EQ(ask("tools/fly"), "-32601 there is no method tools/fly");
}

TEST_F(ServerSessionTest, AToolMayAskTheClientInEachErasWay) {
  initialize();
  EXPECT_EQ(ask("tools/call", {{"name", "ask"}}),
            R"({"content":[{"type":"text","text":"{\"roots\":[{\"uri\":\"file:///a\"}]}"}]})");
  std::string wanted = ask_modern("tools/call", {{"name", "ask"}});
  EXPECT_TRUE(wanted.starts_with(
      R"({"resultType":"input_required","inputRequests":{"r":{"method":"roots/list","params":{}}},)"
      R"("requestState":"s")"));
  std::string given = ask_modern(
      "tools/call",
      {{"name", "ask"}, {"inputResponses", json::Object{{"r", 1}}}, {"requestState", "s"}});
  EXPECT_TRUE(given.starts_with(R"({"content":[{"type":"text","text":"{\"r\":1}s"}])"));
}

TEST_F(ServerSessionTest, PromptsResourcesAndCompletionsAreServed) {
  initialize();
  EXPECT_EQ(ask("prompts/list"),
            R"({"prompts":[{"name":"p","arguments":[{"name":"a","description":"d",)"
            R"("required":true}]}]})");
  EXPECT_EQ(ask("prompts/get", {{"name", "p"}, {"arguments", json::Object{{"a", "hi"}}}}),
            R"({"description":"d","messages":[{"role":"user","content":{"type":"text",)"
            R"("text":"hi"}}]})");
  EXPECT_EQ(ask("prompts/get", {{"name", "p"}, {"arguments", json::Object{{"a", 1}}}}),
            "-32602 expected a string (at /arguments/a)");
  EXPECT_EQ(ask("resources/list"),
            R"({"resources":[{"uri":"x://a","name":"a","mimeType":"text/plain"}]})");
  EXPECT_EQ(ask("resources/templates/list"),
            R"({"resourceTemplates":[{"uriTemplate":"x://{id}","name":"t"}]})");
  EXPECT_EQ(ask("resources/read", {{"uri", "x://a"}}),
            R"({"contents":[{"uri":"x://a","text":"A"}]})");
  EXPECT_EQ(ask("resources/read", {{"uri", "x://b"}}), "-32602 there is no such resource");
  json::Object ref{{"type", "ref/prompt"}, {"name", "p"}};
  auto completion =
      json::parse(ask("completion/complete",
                      {{"ref", ref}, {"argument", json::Object{{"name", "a"}, {"value", "v"}}}}))
          .value();
  EXPECT_EQ(completion.at("completion").at("values").as_array().size(), 100U);
  EXPECT_EQ(completion.at("completion").at("hasMore"), json::Value(true));
}

TEST_F(ServerSessionTest, ChangesReachThoseWhoWantThem) {
  session_.announce_change(*server_, ListKind::tools);
  run_ready(io_);
  EXPECT_EQ(noticed_, std::vector<std::string>{});
  initialize();
  session_.announce_change(*server_, ListKind::tools);
  session_.announce_update(*server_, "x://a");
  ask("resources/subscribe", {{"uri", "x://a"}});
  session_.announce_update(*server_, "x://a");
  session_.announce_update(*server_, "x://b");
  run_ready(io_);
  EXPECT_EQ(noticed_,
            (std::vector<std::string>{"notifications/tools/list_changed {}",
                                      R"(notifications/resources/updated {"uri":"x://a"})"}));
  ask("resources/unsubscribe", {{"uri", "x://a"}});
  session_.announce_update(*server_, "x://a");
  run_ready(io_);
  EXPECT_EQ(noticed_.size(), 2U);
}

TEST_F(ServerSessionTest, AModernClientListensForChanges) {
  calls_.spawn("listen", listen());
  run_ready(io_);
  session_.announce_change(*server_, ListKind::tools);
  session_.announce_change(*server_, ListKind::prompts);
  session_.announce_update(*server_, "x://a");
  run_ready(io_);
  std::string id = R"("_meta":{"io.modelcontextprotocol/subscriptionId":1}})";
  EXPECT_EQ(noticed_, (std::vector<std::string>{
                          cat("notifications/subscriptions/acknowledged {\"notifications\":{",
                              R"("toolsListChanged":true,"resourceSubscriptions":["x://a"]},)", id),
                          cat("notifications/tools/list_changed {", id),
                          cat(R"(notifications/resources/updated {"uri":"x://a",)", id)}));
}

// Our own client takes the server for one of the modern era.
TEST(ServerAndClient, UnderstandEachOther) {
  asio::io_context io(1);
  Home home(io);
  AsioTimers timers(home);
  net::HttpClient http;
  Everything features;
  ServerSession session(features);
  std::unique_ptr<rpc::Connection> theirs;
  std::unique_ptr<rpc::Peer> server;
  CustomServer address{.connect = [&]() -> Result<std::unique_ptr<rpc::Connection>> {
    auto [ours, others] = rpc::make_connection_pair(io.get_executor());
    theirs = std::move(others);
    server = std::make_unique<rpc::Peer>(io.get_executor(), *theirs, session, report_bug);
    server->start();
    return std::move(ours);
  }};
  Client client({.home = io.get_executor(), .http = http, .timers = timers, .on_bug = report_bug},
                {.server = address});
  auto info = run_task(io, client.connect()).value();
  EXPECT_EQ(info.era, Era::modern);
  EXPECT_EQ(info.server.name, "e");
  EXPECT_EQ(run_task(io, client.tools()).value()->tools.size(), 1U);
  auto result = run_task(io, client.call_tool({.name = "t0"})).value();
  EXPECT_EQ(result, (CallToolResult{.content = {TextContent{"{}"}}}));
  run_task(io, client.stop());
  run_task(io, server->stop());
}

TEST(StdioServer, AnswersWhatIsAskedBeforeTheEndOfItsInput) {
  int in[2];
  int out[2];
  ASSERT_EQ(::pipe2(in, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(out, O_CLOEXEC), 0);
  Descriptor input(in[0]);
  Descriptor output(out[1]);
  Descriptor reader(out[0]);
  std::string asked =
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})"
      "\n{\n"
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t0"}})"
      "\n";
  ASSERT_EQ(::write(in[1], asked.data(), asked.size()), std::ssize(asked));
  ::close(in[1]);
  asio::io_context io(1);
  Everything features;
  EXPECT_TRUE(run_task(io, serve_stdio(&features, input.get(), output.get(), report_bug)));
  output.reset(-1);
  char memory[4096];
  auto count = ::read(reader.get(), memory, sizeof memory);
  std::string said(memory, static_cast<std::size_t>(count));
  EXPECT_NE(said.find(R"("id":1,"result":{"protocolVersion":"2025-06-18")"), std::string::npos);
  EXPECT_NE(said.find(R"("code":-32700)"), std::string::npos);
  EXPECT_NE(said.find(R"("id":2,"result":{"content")"), std::string::npos);
}

// Every result against the official schemas.
class ServerSchemaTest : public ServerSessionTest {
 protected:
  void SetUp() override {
    if (!fs::exists(kSchemas)) GTEST_SKIP() << "there is no " << kSchemas;
  }
  static void check(const std::string& version, std::string_view type, const std::string& result) {
    std::ifstream file(kSchemas / (version + ".json"), std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    json::Value schema = json::parse(text).value();
    schema.as_object()["$ref"] = cat("#/$defs/", type);
    auto errors = json::compile_schema(schema).value()->validate(json::parse(result).value());
    EXPECT_EQ(json::describe(errors), "") << type << " " << result;
  }
};

struct Asked {
  const char* method;
  const char* type;
  json::Object params = {};
};

std::vector<Asked> questions() {
  json::Object ref{{"type", "ref/resource"}, {"uri", "x://{id}"}};
  json::Object argument{{"name", "id"}, {"value", "v"}};
  return {{"tools/list", "ListToolsResult"},
          {"tools/call", "CallToolResult", {{"name", "t0"}}},
          {"prompts/list", "ListPromptsResult"},
          {"prompts/get", "GetPromptResult", {{"name", "p"}}},
          {"resources/list", "ListResourcesResult"},
          {"resources/templates/list", "ListResourceTemplatesResult"},
          {"resources/read", "ReadResourceResult", {{"uri", "x://a"}}},
          {"completion/complete", "CompleteResult", {{"ref", ref}, {"argument", argument}}}};
}

TEST_F(ServerSchemaTest, EveryLegacyResultIsValid) {
  check("2025-11-25", "InitializeResult", initialize());
  for (Asked& one : questions()) check("2025-11-25", one.type, ask(one.method, one.params));
}

TEST_F(ServerSchemaTest, EveryModernResultIsValid) {
  check("2026-07-28", "DiscoverResult", ask_modern("server/discover"));
  check("2026-07-28", "InputRequiredResult", ask_modern("tools/call", {{"name", "ask"}}));
  for (Asked& one : questions()) check("2026-07-28", one.type, ask_modern(one.method, one.params));
}

}  // namespace
}  // namespace errand::mcp::server_session_test
