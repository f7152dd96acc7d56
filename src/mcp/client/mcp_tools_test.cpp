#include "mcp/client/mcp_tools.hpp"

#include <gtest/gtest.h>

#include <string>

#include "json/parse.hpp"
#include "json/write.hpp"
#include "mcp/client/client_tools.hpp"
#include "mcp/client/test_fake_server.hpp"
#include "support/held_pool.hpp"
#include "tool/no_tools.hpp"

namespace errand::mcp::test::mcp_tools_test {
namespace {

Principal somebody() {
  return {.workspace = *WorkspaceSlug::parse("default"), .key = {}};
}

ToolCall call_with_id(std::string_view id) {
  return {.run = *RunId::parse("run_1"), .id = *ToolUseId::parse(id), .arguments = {}};
}

// The tools of configured servers, all of which are one fake server.
class McpToolsTest : public ClientTest {
 protected:
  explicit McpToolsTest(Era era = Era::legacy) : ClientTest(era) {
    Names names;
    for (std::size_t i = 0; i <= McpTools::kClientsMax; ++i) names.push_back(cat("s", i));
    keep_servers(names);
  }
  void keep_servers(const Names& names, SchemaWork schemas = {}) {
    std::map<std::string, ConfiguredServer> servers;
    for (const std::string& name : names) servers[name] = {.address = server_.address()};
    servers.begin()->second.roots = {{.uri = "file:///a", .name = "a"}};
    tools_.emplace(ClientDeps{.home = io_.get_executor(),
                              .http = http_,
                              .timers = timers_,
                              .on_bug = report_bug,
                              .schemas = std::move(schemas)},
                   McpTools::Configured{.servers = std::move(servers), .http = http_});
  }
  ~McpToolsTest() override {
    run_task(io_, calls_.stop(CancelReason::shutdown));
    run_task(io_, tools_->stop());
  }

  static McpServer ref(std::string name = "s0") {
    return {.name = "s", .url = cat("config:", name), .headers = {}, .tool_filter = {}};
  }
  Result<std::vector<ToolDecl>> ask(McpServer server = ref()) {
    return run_task(io_, tools_->ask(std::move(server), somebody()));
  }
  ToolPtr open(const McpServer& server, std::size_t index = 0) {
    return tools_->open(ask(server).value().at(index), server, somebody());
  }
  std::string invoke(const ToolPtr& tool, std::string_view id = "tu_1") {
    ToolOutcome outcome = run_task(io_, tool->invoke(call_with_id(id), {.who = somebody()}));
    return cat(outcome.ok() ? "ok: " : "failed: ", text_of(outcome));
  }
  void promise_output() {
    json::Object tool = FakeServer::tool("one");
    tool["outputSchema"] = json::Object{
        {"type", "object"}, {"properties", json::Object{{"n", json::Object{{"type", "integer"}}}}}};
    server_.on("tools/list", json::Object{{"tools", json::Array{tool}}});
  }

  std::optional<McpTools> tools_;
};

class ModernMcpToolsTest : public McpToolsTest {
 protected:
  ModernMcpToolsTest() : McpToolsTest(Era::modern) {}
};

TEST_F(McpToolsTest, AResultIsCheckedByWhatTheRunWasToldWhateverTheServerSaysLater) {
  promise_output();
  ToolPtr tool = open(ref());
  server_.cut();
  run_ready(io_);
  json::Object lie = text_result("five");
  lie["structuredContent"] = json::Object{{"n", "five"}};
  server_.on_call(lie);
  EXPECT_EQ(invoke(tool),
            "failed: five\nThe result does not fit the tool's output schema:\n/n: expected an "
            "integer, got \"five\"");
}

TEST_F(McpToolsTest, AResultWithoutTheStructuredContentThatWasPromisedIsAFailedOne) {
  promise_output();
  ToolPtr tool = open(ref());
  server_.on_call(text_result("five"));
  EXPECT_EQ(invoke(tool),
            "failed: five\nThe result has no structured content, although the tool has an output "
            "schema.");
  json::Object failure = text_result("no five today");
  failure["isError"] = true;
  server_.on_call(failure);
  EXPECT_EQ(invoke(tool), "failed: no five today");
}

TEST_F(McpToolsTest, TheSchemasOfAServerAreCompiledOnThePool) {
  json::Object tool = FakeServer::tool("one");
  tool["inputSchema"] = json::Object{
      {"type", "object"},
      {"properties", json::Object{{"n", json::Object{{"type", "string"}, {"pattern", "^a$"}}}}}};
  server_.on("tools/list", json::Object{{"tools", json::Array{tool}}});
  HeldPool pool;
  keep_servers({"s0"}, {.pool = pool.get()});
  json::CompiledSchemaPtr checker;
  auto look = [](McpTools* tools, json::CompiledSchemaPtr* out) -> Task<void> {
    auto decls = co_await tools->ask(ref(), somebody());
    if (decls) *out = decls->at(0).checker;
  };
  calls_.spawn("ask", look(&*tools_, &checker));
  run_until(io_,
            [this] { return !server_.methods.empty() && server_.methods.back() == "tools/list"; });
  run_ready(io_);
  EXPECT_EQ(checker, nullptr);
  pool.let_go();
  run_until(io_, [this] { return calls_.size() == 0; });
  ASSERT_NE(checker, nullptr);
  EXPECT_FALSE(checker->accepts(json::Object{{"n", "b"}}));
}

TEST_F(McpToolsTest, TheClientUsedLongestAgoIsNotGivenUpDuringACall) {
  server_.hang_on("tools/call");
  ToolPtr tool = open(ref());
  auto wait = [](ToolPtr used) -> Task<void> {
    [[maybe_unused]] ToolOutcome outcome =
        co_await used->invoke(call_with_id("tu_1"), {.who = somebody()});
  };
  calls_.spawn("call", wait(tool));
  run_until(io_,
            [this] { return !server_.methods.empty() && server_.methods.back() == "tools/call"; });
  for (std::size_t i = 1; i <= McpTools::kClientsMax; ++i) {
    EXPECT_TRUE(ask(ref(cat("s", i)))) << i;
  }
  EXPECT_EQ(server_.cancelled, 0);
  EXPECT_EQ(calls_.size(), 1U);
}

TEST_F(McpToolsTest, AFilterThatNamesNoToolIsNotAServerThatIsDown) {
  McpServer filtered = ref();
  filtered.tool_filter = {"three"};
  Error error = ask(filtered).error();
  EXPECT_EQ(error.reason(), kNoTools);
  EXPECT_EQ(error.message(), "the run's toolFilter names none of its tools");
  server_.offer({});
  error = ask(ref("s1")).error();
  EXPECT_EQ(error.reason(), kNoTools);
  EXPECT_EQ(error.message(), "it has no tools");
}

TEST_F(McpToolsTest, ACallMayTakeLongerThanItMayBeSilentAndTheRefMaySayHowLong) {
  static_assert(kCallTimeMax > kCallSilenceMax);
  EXPECT_EQ(ask().value().at(0).annotations.timeout, kCallTimeMax);
  McpServer patient = ref();
  patient.timeout = std::chrono::hours(1);
  EXPECT_EQ(ask(patient).value().at(0).annotations.timeout, milliseconds(std::chrono::hours(1)));
  McpServer hasty = ref();
  hasty.timeout = milliseconds(5);
  server_.hang_on("tools/call");
  EXPECT_EQ(invoke(open(hasty)),
            "failed: The MCP server did not answer (no answer came in time). The call may or may "
            "not have taken effect.");
}

TEST_F(McpToolsTest, ToolsOfConfiguredServersAreOfferedToOthers) {
  keep_servers({"s0", "s1"});
  server_.refuse_connections(1);
  std::vector<std::string> names;
  auto offered = run_task(io_, tools_->offered(somebody())).value();
  for (const ToolPtr& tool : offered) names.push_back(tool->decl().name);
  EXPECT_EQ(names, (Names{"s1_one", "s1_two"}));
  server_.on_call(text_result("hi"));
  EXPECT_EQ(invoke(offered.at(0)), "ok: hi");
  // The server that was down is not asked again at once.
  const int connections = server_.connections;
  EXPECT_EQ(run_task(io_, tools_->offered(somebody())).value().size(), 2U);
  EXPECT_EQ(server_.connections, connections);
}

TEST_F(McpToolsTest, AServerThatDoesNotAnswerIsNamedWithTheReason) {
  keep_servers({"s0", "s1"});
  server_.refuse_connections(1);
  for (int i = 0; i < 2; ++i) {  // the second time it is not asked again
    auto offers = run_task(io_, tools_->offers(somebody())).value();
    ASSERT_EQ(offers.size(), 2U);
    EXPECT_EQ(offers[0].server, "s0");
    EXPECT_EQ(offers[0].why_not, "nobody is there");
    EXPECT_EQ(offers[0].tools.size(), 0U);
    EXPECT_EQ(offers[1].server, "s1");
    EXPECT_EQ(offers[1].why_not, "");
    EXPECT_EQ(offers[1].tools.size(), 2U);
  }
}

TEST_F(McpToolsTest, WhoeverWantsToolsMayLeaveBeforeAServerAnswers) {
  keep_servers({"s0"});
  server_.hang_on("tools/list");
  auto wait = [](McpTools* tools) -> Task<void> {
    [[maybe_unused]] auto offered = co_await tools->offered(somebody());
  };
  calls_.spawn("offer", wait(&*tools_));
  run_until(io_,
            [this] { return !server_.methods.empty() && server_.methods.back() == "tools/list"; });
  run_task(io_, calls_.stop(CancelReason::client_gone));
  EXPECT_EQ(calls_.size(), 0U);
}

TEST_F(McpToolsTest, AConfiguredServerIsToldItsFolders) {
  EXPECT_TRUE(ask(ref("s0")));
  auto answer = run_task(io_, server_.ask("roots/list", {})).value();
  EXPECT_EQ(json::write(std::get<json::Value>(answer)),
            R"({"roots":[{"uri":"file:///a","name":"a"}]})");
  EXPECT_TRUE(ask(ref("s1")));
  answer = run_task(io_, server_.ask("roots/list", {})).value();
  EXPECT_TRUE(std::holds_alternative<rpc::RpcError>(answer));
}

TEST_F(McpToolsTest, EveryAttemptOfACallHasTheSameKey) {
  ToolPtr tool = open(ref());
  server_.on_call(text_result("hi"));
  EXPECT_EQ(invoke(tool, "tu_7"), "ok: hi");
  EXPECT_NE(server_.sent.back().find(R"("_meta":{"errand/idempotencyKey":"tu_7"})"),
            std::string::npos)
      << server_.sent.back();
}

TEST_F(ModernMcpToolsTest, AKeyStandsBesideWhatTheEraDemands) {
  ToolPtr tool = open(ref());
  server_.on_call(text_result("hi"));
  EXPECT_EQ(invoke(tool, "tu_7"), "ok: hi");
  json::Value sent = json::parse(server_.sent.back()).value();
  const json::Object& meta = sent.at("params").at("_meta").as_object();
  EXPECT_EQ(meta.at(kIdempotencyKey), "tu_7");
  EXPECT_EQ(meta.at("io.modelcontextprotocol/protocolVersion"), "2026-07-28");
}

}  // namespace
}  // namespace errand::mcp::test::mcp_tools_test
