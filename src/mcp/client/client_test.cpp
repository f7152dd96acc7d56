#include "mcp/client/client.hpp"

#include <gtest/gtest.h>

#include <string>

#include "json/write.hpp"
#include "mcp/client/test_fake_server.hpp"

namespace errand::mcp::test::client_test {
namespace {

class LegacyClientTest : public ClientTest {};
class ModernClientTest : public ClientTest {
 protected:
  ModernClientTest() : ClientTest(Era::modern) {}
};

TEST_F(LegacyClientTest, AServerThatDoesNotKnowTheNewQuestionIsInitialized) {
  auto info = run_task(io_, client().connect());
  EXPECT_EQ(info.value(), (ServerInfo{.era = Era::legacy,
                                      .protocol_version = "2025-11-25",
                                      .server = {.name = "fake", .version = ""},
                                      .instructions = "Be kind.",
                                      .has_tools = true,
                                      .announces_tool_changes = true}));
  EXPECT_EQ(tools(), (Names{"one", "two"}));
  EXPECT_EQ(server_.methods,
            (Names{"server/discover", "initialize", "notifications/initialized", "tools/list"}));
}

TEST_F(ModernClientTest, AModernServerNeedsNoHandshake) {
  auto info = run_task(io_, client().connect());
  EXPECT_EQ(info.value().era, Era::modern);
  server_.on_call(text_result("hi"));
  EXPECT_EQ(shown(call()), "ok: hi");
  EXPECT_EQ(server_.methods, (Names{"server/discover", "subscriptions/listen", "tools/call"}));
}

TEST_F(LegacyClientTest, AServerThatNeverAnswersTheNewQuestionIsInitialized) {
  server_.hang_on("server/discover");
  start({.detect_time = milliseconds(10)});
  EXPECT_TRUE(run_task(io_, client().connect()));
}

TEST_F(LegacyClientTest, AVersionThatWeDoNotSpeakIsRefused) {
  server_.on("initialize", json::Object{{"protocolVersion", "1999-01-01"}});
  EXPECT_EQ(run_task(io_, client().connect()).error().describe(),
            "the server wants version \"1999-01-01\" of MCP, which this program does not speak");
}

TEST_F(LegacyClientTest, TheEraIsRememberedWhenTheClientConnectsAgain) {
  server_.on_call(text_result("hi"));
  EXPECT_EQ(shown(call()), "ok: hi");
  server_.cut();
  run_ready(io_);
  server_.methods.clear();
  EXPECT_EQ(shown(call()), "ok: hi");
  EXPECT_EQ(server_.methods, (Names{"initialize", "notifications/initialized", "tools/call"}));
  EXPECT_EQ(server_.connections, 2);
}

TEST_F(LegacyClientTest, AServerThatWasReplacedByAModernOneIsReachedAgain) {
  server_.on_call(text_result("hi"));
  EXPECT_EQ(shown(call()), "ok: hi");
  server_.cut();
  run_ready(io_);
  server_.on("initialize", [](const rpc::Request&) -> rpc::Answer {
    return rpc::RpcError{.code = code::kUnsupportedVersion, .message = "too old"};
  });
  server_.on("server/discover",
             json::Object{{"supportedVersions", json::Array{"2026-07-28"}},
                          {"capabilities", json::Object{{"tools", json::Object()}}},
                          {"resultType", "complete"}});
  EXPECT_TRUE(shown(call()).starts_with("unavailable: "));
  server_.on_call(text_result("modern"));
  EXPECT_EQ(shown(call()), "ok: modern");
}

TEST_F(LegacyClientTest, ToolsComeInPagesAndAreKeptUntilTheyChange) {
  server_.on("tools/list", [](const rpc::Request& request) -> rpc::Answer {
    bool is_first = !request.params.contains("cursor");
    json::Object page{{"tools", json::Array{FakeServer::tool(is_first ? "a" : "b")}}};
    if (is_first) page["nextCursor"] = "next";
    return json::Value(page);
  });
  EXPECT_EQ(tools(), (Names{"a", "b"}));
  server_.offer({"c"});
  EXPECT_EQ(tools(), (Names{"a", "b"}));
  server_.tell("notifications/tools/list_changed");
  run_ready(io_);
  EXPECT_EQ(tools(), (Names{"c"}));
}

TEST_F(LegacyClientTest, ACursorThatComesBackEndsTheList) {
  server_.on("tools/list",
             json::Object{{"tools", json::Array{FakeServer::tool("a")}}, {"nextCursor", "same"}});
  EXPECT_EQ(tools(), (Names{"a", "note: tool a: the name is there twice",
                            "note: the server gives the same page of its tools twice: the first 1 "
                            "are used"}));
}

TEST_F(LegacyClientTest, TenThousandToolsAreCut) {
  Names names;
  for (int i = 0; i < 10'000; ++i) names.push_back(cat("t", i));
  server_.offer(names);
  auto list = run_task(io_, client().tools()).value();
  EXPECT_EQ(list->tools.size(), 1000U);
  EXPECT_EQ(list->notes, Names{"the server has more tools than are used: the first 1000 are used"});
}

TEST_F(LegacyClientTest, ToolsThatCannotBeUsedAreLeftOut) {
  json::Object schemaless{{"name", "x"}, {"inputSchema", nullptr}};
  server_.on("tools/list",
             json::Object{{"tools", json::Array{3, schemaless, FakeServer::tool("good"),
                                                json::Object{{"name", ""}}}}});
  EXPECT_EQ(tools(),
            (Names{"good", "note: a tool has no name",
                   "note: tool x: its input schema is not an object", "note: a tool has no name"}));
}

TEST_F(LegacyClientTest, AnAnswerThatIsNoListIsAnError) {
  server_.on("tools/list", json::Object{{"tools", 3}});
  EXPECT_EQ(tools(), Names{"the server's answer to tools/list has no list of tools"});
}

TEST_F(LegacyClientTest, AServerWithoutToolsIsNotAskedForThem) {
  server_.on("initialize", json::Object{{"protocolVersion", "2025-06-18"}});
  EXPECT_EQ(tools(), Names{});
  EXPECT_EQ(server_.methods.back(), "notifications/initialized");
}

TEST_F(LegacyClientTest, ProgressReachesTheCaller) {
  server_.on_call(text_result("done"));
  std::vector<rpc::Progress> seen;
  auto result = call({.on_progress = [&](const rpc::Progress& one) { seen.push_back(one); }});
  EXPECT_EQ(shown(result), "ok: done");
  EXPECT_EQ(seen, (std::vector<rpc::Progress>{{.progress = 1, .total = 2, .message = "half"}}));
}

TEST_F(LegacyClientTest, AToolThatHangsMeetsItsTimeAndIsCancelled) {
  server_.hang_on("tools/call");
  EXPECT_EQ(shown(call({.silence_max = milliseconds(10)})), "timeout: no answer came in time");
  run_until(io_, [this] { return server_.cancelled == 1; });
}

TEST_F(LegacyClientTest, ACallThatIsInterruptedIsCancelled) {
  server_.hang_on("tools/call");
  EXPECT_TRUE(run_task(io_, client().connect()));
  Interrupt interrupt;
  timers_.set(timers_.now() + milliseconds(5), [&] { interrupt.raise(); });
  EXPECT_EQ(shown(call({.interrupt = &interrupt})), "cancelled: the request was cancelled");
  run_until(io_, [this] { return server_.cancelled == 1; });
}

TEST_F(LegacyClientTest, AnErrorOfTheServerIsAnErrorOfTheCall) {
  server_.on("tools/call", [](const rpc::Request&) -> rpc::Answer {
    return rpc::RpcError{.code = -32602, .message = "Unknown tool"};
  });
  EXPECT_EQ(shown(call()), "invalid_argument: the server answers with error -32602: Unknown tool");
}

TEST_F(LegacyClientTest, AConnectionThatEndsDuringACallLeavesItsOutcomeUnknown) {
  server_.on("tools/call", [this](const rpc::Request&) -> rpc::Answer {
    server_.cut();
    return json::Value();
  });
  EXPECT_EQ(shown(call()), "outcome_unknown: no answer came: the connection is closed");
  EXPECT_EQ(std::count(server_.methods.begin(), server_.methods.end(), "tools/call"), 1);
  server_.on_call(text_result("again"));
  EXPECT_EQ(shown(call()), "ok: again");
}

TEST_F(LegacyClientTest, AServerThatIsDownIsTriedAgainAfterAPause) {
  server_.refuse_connections(2);
  server_.on_call(text_result("up"));
  EXPECT_EQ(shown(call()), "unavailable: nobody is there");
  EXPECT_EQ(shown(call()), "unavailable: nobody is there");
  EXPECT_EQ(shown(call()), "ok: up");
  EXPECT_EQ(server_.connections, 3);
}

TEST_F(LegacyClientTest, DuringALongPauseCallsFailAtOnce) {
  server_.refuse_connections(1000);
  client_ = std::make_unique<Client>(
      ClientDeps{
          .home = io_.get_executor(), .http = http_, .timers = timers_, .on_bug = report_bug},
      ClientOptions{.server = address(), .limits = {.first_pause = seconds(20)}});
  EXPECT_EQ(shown(call()), "unavailable: nobody is there");
  EXPECT_EQ(shown(call()), "unavailable: nobody is there");
  EXPECT_EQ(server_.connections, 1);
}

TEST_F(LegacyClientTest, CallersThatComeTogetherShareOneConnection) {
  int done = 0;
  auto connect = [](Client* client, int* count) -> Task<void> {
    auto info = co_await client->connect();
    if (info) ++*count;
  };
  for (int i = 0; i < 3; ++i) calls_.spawn("connect", connect(&client(), &done));
  run_until(io_, [&] { return done == 3; });
  EXPECT_EQ(server_.connections, 1);
}

TEST_F(LegacyClientTest, AResultThatIsTooLargeIsCutWithANote) {
  server_.on_call(text_result(std::string(5'000'000, 'x')));
  auto result = call().value();
  EXPECT_EQ(std::get<TextContent>(result.content.at(0)).text.size(), 4U * 1024 * 1024);
  EXPECT_EQ(result.content.at(1), Content(TextContent{"[The tool's result is larger than 4194304 "
                                                      "bytes. 805696 bytes were cut.]"}));
}

TEST_F(LegacyClientTest, StructuredContentThatBreaksItsSchemaIsAFailedResult) {
  auto schema = std::make_shared<const json::Object>(json::Object{
      {"type", "object"}, {"properties", json::Object{{"n", json::Object{{"type", "integer"}}}}}});
  json::Object lie = text_result("five");
  lie["structuredContent"] = json::Object{{"n", "five"}};
  server_.on_call(lie);
  EXPECT_EQ(shown(call({.output_schema = schema})),
            "failed: five The result does not fit the tool's output schema:\n/n: expected an "
            "integer, got \"five\"");
  json::Object truth = text_result("five");
  truth["structuredContent"] = json::Object{{"n", 5}};
  server_.on_call(truth);
  EXPECT_EQ(call({.output_schema = schema}).value().structured_content,
            json::Value(json::Object{{"n", 5}}));
}

TEST_F(LegacyClientTest, ASchemaThatIsNoSchemaChecksNothing) {
  auto schema = std::make_shared<const json::Object>(json::Object{{"type", 7}});
  json::Object result = text_result("five");
  result["structuredContent"] = 3;
  server_.on_call(result);
  EXPECT_EQ(shown(call({.output_schema = schema})), "ok: five");
}

TEST_F(LegacyClientTest, ToolsWhoseChangesNobodyTellsAreKeptForAWhile) {
  server_.on("initialize", json::Object{{"protocolVersion", "2025-11-25"},
                                        {"capabilities", json::Object{{"tools", json::Object()}}}});
  start({.unwatched_time = milliseconds(0)});
  EXPECT_EQ(tools(), (Names{"one", "two"}));
  server_.offer({"three"});
  EXPECT_EQ(tools(), Names{"three"});
  start_anew({});
  EXPECT_EQ(tools(), Names{"three"});
  server_.offer({"four"});
  EXPECT_EQ(tools(), Names{"three"});
}

TEST_F(LegacyClientTest, AResultWithoutContentIsAnError) {
  server_.on_call({{"isError", true}});
  EXPECT_EQ(shown(call()), "unsupported: the tool's result has no content");
}

TEST_F(LegacyClientTest, QuestionsThatNobodyAnswersAreNotSupported) {
  EXPECT_TRUE(run_task(io_, client().connect()));
  for (const char* method : {"roots/list", "sampling/createMessage", "elicitation/create", "x"}) {
    auto answer = run_task(io_, server_.ask(method, {}));
    EXPECT_EQ(std::get<rpc::RpcError>(*answer),
              (rpc::RpcError{.code = -32601, .message = cat(method, " is not supported")}));
  }
  EXPECT_EQ(*run_task(io_, server_.ask("ping", {})), rpc::Answer(json::Value(json::Object())));
}

// Answers what a server asks, and keeps the questions.
class TestFeatures final : public ClientFeatures {
 public:
  ClientCapabilities offered() const override {
    return {.roots = true, .sampling = true, .elicitation = true};
  }
  Task<Result<std::vector<Root>>> roots() override {
    co_return std::vector<Root>{{.uri = "file:///a", .name = "a"}};
  }
  Task<Result<CreateMessageResult>> create_message(CreateMessageParams params) override {
    questions.push_back(std::move(params));
    co_return CreateMessageResult{.content = TextContent{"yes"}, .model = "m"};
  }
  Task<Result<ElicitResult>> elicit(ElicitParams params) override {
    if (params.message == "bad") co_return Error(ErrorCode::unavailable, "nobody is here");
    co_return ElicitResult{.action = ElicitResult::Action::accept, .content = {{"name", "Ada"}}};
  }

  std::vector<CreateMessageParams> questions;
};

TEST_F(LegacyClientTest, QuestionsAreAnsweredByTheFeatures) {
  TestFeatures features;
  start({}, &features);
  EXPECT_TRUE(run_task(io_, client().connect()));
  auto ask = [&](std::string method, json::Object params) {
    auto answer = run_task(io_, server_.ask(std::move(method), std::move(params))).value();
    const auto* value = std::get_if<json::Value>(&answer);
    return value ? json::write(*value) : std::get<rpc::RpcError>(answer).message;
  };
  EXPECT_EQ(ask("roots/list", {}), R"({"roots":[{"uri":"file:///a","name":"a"}]})");
  json::Object message{{"role", "user"},
                       {"content", json::Object{{"type", "text"}, {"text", "?"}}}};
  EXPECT_EQ(ask("sampling/createMessage", {{"messages", json::Array{message}}, {"maxTokens", 9}}),
            R"({"role":"assistant","content":{"type":"text","text":"yes"},"model":"m",)"
            R"("stopReason":"endTurn"})");
  EXPECT_EQ(features.questions,
            (std::vector<CreateMessageParams>{
                {.messages = {{.role = "user", .content = {TextContent{"?"}}}}, .max_tokens = 9}}));
  json::Object form{{"message", "?"}, {"requestedSchema", json::Object()}};
  EXPECT_EQ(ask("elicitation/create", form), R"({"action":"accept","content":{"name":"Ada"}})");
  form["message"] = "bad";
  EXPECT_EQ(ask("elicitation/create", form), "nobody is here");
  EXPECT_EQ(ask("elicitation/create", {}), "expected an object (at /requestedSchema)");
}

json::Object asks_for_name() {
  json::Object params{{"message", "Who?"}, {"requestedSchema", json::Object()}};
  json::Object request{{"method", "elicitation/create"}, {"params", params}};
  return {{"resultType", "input_required"},
          {"inputRequests", json::Object{{"k", request}}},
          {"requestState", "s"}};
}

TEST_F(ModernClientTest, InputThatAServerNeedsIsGivenWithTheNextRequest) {
  TestFeatures features;
  start({}, &features);
  server_.on("tools/call", [](const rpc::Request& request) -> rpc::Answer {
    const json::Value* given = request.params.if_contains("inputResponses");
    if (!given) return json::Value(asks_for_name());
    return json::Value(
        text_result(cat(json::write(*given), json::write(request.params.at("requestState")))));
  });
  EXPECT_EQ(shown(call()), R"(ok: {"k":{"action":"accept","content":{"name":"Ada"}}}"s")");
}

TEST_F(ModernClientTest, AServerThatAsksForEverIsLeft) {
  server_.on_call(asks_for_name());
  EXPECT_EQ(shown(call()), "unsupported: the MCP server asks for input again and again");
}

TEST_F(ModernClientTest, ChangesOfToolsComeThroughTheSubscription) {
  server_.hang_on("subscriptions/listen");
  EXPECT_EQ(tools(), (Names{"one", "two"}));
  server_.offer({"three"});
  EXPECT_EQ(tools(), (Names{"one", "two"}));
  server_.tell("notifications/tools/list_changed");
  run_ready(io_);
  EXPECT_EQ(tools(), Names{"three"});
}

TEST_F(ModernClientTest, AStreamThatIsCutAgainAndAgainIsOpenedAgain) {
  std::size_t opened = 0;
  server_.on("subscriptions/listen", [&](const rpc::Request&) -> rpc::Answer {
    server_.tell("notifications/subscriptions/acknowledged");
    ++opened;
    return json::Value(json::Object());
  });
  ManualTimers timers;
  connect_with(timers);
  while (opened < 30) {
    run_ready(io_);  // up to the pause
    std::size_t before = opened;
    timers.advance(seconds(5));
    run_until(io_, [&] { return opened > before; });
  }
  run_task(io_, client_->stop());
  client_.reset();
}

TEST_F(ModernClientTest, AServerThatNeverTakesTheSubscriptionIsLeftAlone) {
  std::size_t opened = 0;
  server_.on("subscriptions/listen", [&](const rpc::Request&) -> rpc::Answer {
    ++opened;
    return json::Value(json::Object());
  });
  ManualTimers timers;
  connect_with(timers);
  for (int i = 0; i < 30; ++i) {
    run_ready(io_);
    timers.advance(seconds(5));
  }
  EXPECT_EQ(opened, 10U);
  run_task(io_, client_->stop());
  client_.reset();
}

TEST_F(ModernClientTest, WithoutASubscriptionToolsAreKeptForTheTimeThatTheServerSays) {
  EXPECT_EQ(tools(), (Names{"one", "two"}));
  server_.offer({"three"});
  EXPECT_EQ(tools(), Names{"three"});
}

TEST_F(ModernClientTest, AVersionThatIsRefusedAndOfferedIsAskedForAgain) {
  server_.on("server/discover", [this](const rpc::Request&) -> rpc::Answer {
    if (server_.methods.size() > 1) {
      return json::Value(json::Object{{"supportedVersions", json::Array{"2026-07-28"}}});
    }
    json::Object data{{"supported", json::Array{"2026-07-28"}}};
    return rpc::RpcError{.code = -32022, .message = "no", .data = json::Value(data)};
  });
  EXPECT_EQ(run_task(io_, client().connect()).value().era, Era::modern);
}

TEST_F(ModernClientTest, AServerThatOffersOnlyAnOlderVersionIsInitialized) {
  server_.on("server/discover", [](const rpc::Request&) -> rpc::Answer {
    json::Object data{{"supported", json::Array{"2025-11-25"}}};
    return rpc::RpcError{.code = -32022, .message = "no", .data = json::Value(data)};
  });
  server_.on("initialize", json::Object{{"protocolVersion", "2025-11-25"}});
  EXPECT_EQ(run_task(io_, client().connect()).value().era, Era::legacy);
}

TEST_F(ModernClientTest, AServerThatOffersNothingWeSpeakIsRefused) {
  server_.on("server/discover", [](const rpc::Request&) -> rpc::Answer {
    return rpc::RpcError{.code = -32022, .message = "no"};
  });
  EXPECT_EQ(run_task(io_, client().connect()).error().describe(),
            "the server answers with error -32022: no");
}

TEST_F(ModernClientTest, AResultOfAnUnknownTypeIsAnError) {
  server_.on_call({{"resultType", "surprise"}, {"content", json::Array()}});
  EXPECT_EQ(shown(call()), "unsupported: the server's result is of the unknown type \"surprise\"");
}

}  // namespace
}  // namespace errand::mcp::test::client_test
