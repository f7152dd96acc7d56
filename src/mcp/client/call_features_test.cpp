#include "mcp/client/call_features.hpp"

#include <gtest/gtest.h>

#include <string>

#include "json/parse.hpp"
#include "json/write.hpp"
#include "mcp/client/mcp_tools.hpp"
#include "mcp/client/test_fake_server.hpp"

namespace errand::mcp::test::call_features_test {
namespace {

std::string elicited(std::string_view schema, ToolAnswer answer) {
  ElicitParams asked{.message = "?", .requested_schema = json::parse(schema)->as_object()};
  return json::write(to_json(elicit_result(asked, answer)));
}

constexpr std::string_view kForm =
    R"({"type":"object","properties":{"name":{"type":"string"},
        "age":{"type":"integer","default":7}},"required":["name"]})";

TEST(ElicitResult, AnAnswerThatFitsTheFormIsPassedOnWithTheDefaultsOfTheForm) {
  EXPECT_EQ(elicited(kForm, {.text = R"({"action":"accept","content":{"name":"Ada","age":36}})"}),
            R"({"action":"accept","content":{"name":"Ada","age":36}})");
  EXPECT_EQ(elicited(kForm, {.text = R"({"action":"accept","content":{"name":"Ada"}})"}),
            R"({"action":"accept","content":{"name":"Ada","age":7}})");
}

TEST(ElicitResult, WhateverIsNoAnswerDeclines) {
  for (const char* text : {"", "Ada", "7", "{}", R"({"action":"maybe"})", R"({"action":"accept"})",
                           R"({"action":"accept","content":{"name":7}})",
                           R"({"action":"accept","content":"Ada"})", R"({"action":"decline"})"}) {
    EXPECT_EQ(elicited(kForm, {.text = text}), R"({"action":"decline"})") << text;
  }
  ToolAnswer late{.ok = false, .text = R"({"action":"accept"})", .timed_out = true};
  EXPECT_EQ(elicited("{}", late), R"({"action":"decline"})");
  EXPECT_EQ(elicited(kForm, {.text = R"({"action":"cancel"})"}), R"({"action":"cancel"})");
}

TEST(ElicitResult, APageToOpenHasNoForm) {
  ElicitParams asked{.mode = ElicitParams::Mode::url, .message = "?", .url = "https://a"};
  EXPECT_EQ(elicit_result(asked, {.text = R"({"action":"accept"})"}).action,
            ElicitResult::Action::accept);
}

// A run that answers as a test wants.
class FakeQuestions final : public CallQuestions {
 public:
  AnswerPtr<ModelAnswer> ask_model(ModelQuestion question) override {
    model_questions.push_back(std::move(question));
    auto pending = std::make_shared<PendingAnswer<ModelAnswer>>();
    pending->settle(ModelAnswer{.text = "yes", .model = "m", .finish_reason = "max_tokens"});
    return pending;
  }
  AnswerPtr<ToolAnswer> ask_client(ClientQuestion question) override {
    client_questions.push_back(json::write(question.args));
    pending = std::make_shared<PendingAnswer<ToolAnswer>>();
    if (answer) pending->settle(*answer);
    return pending;
  }

  std::optional<ToolAnswer> answer = ToolAnswer{.text = R"({"action":"accept","content":{}})"};
  std::vector<ModelQuestion> model_questions;
  std::vector<std::string> client_questions;
  AnswerPtr<ToolAnswer> pending;
};

// Calls of runs, at one fake server.
class RunCallsTest : public ClientTest {
 protected:
  explicit RunCallsTest(Era era = Era::legacy) : ClientTest(era) {
    tools_.emplace(
        ClientDeps{
            .home = io_.get_executor(), .http = http_, .timers = timers_, .on_bug = report_bug},
        McpTools::Configured{.servers = {{"s", {.address = server_.address()}}}, .http = http_});
  }
  ~RunCallsTest() override {
    run_task(io_, calls_.stop(CancelReason::shutdown));
    run_task(io_, tools_->stop());
  }

  static Principal somebody() { return {.workspace = *WorkspaceSlug::parse("w"), .key = {}}; }
  static Task<void> invoke(ToolPtr tool, std::string run, CallQuestions* questions,
                           std::string* out) {
    ToolCall call{.run = *RunId::parse(run), .id = *ToolUseId::parse("tu_1"), .arguments = {}};
    ToolContext context{.who = somebody()};
    context.questions = questions;
    ToolOutcome outcome = co_await tool->invoke(std::move(call), context);
    *out = cat(outcome.ok() ? "ok: " : "failed: ", text_of(outcome));
  }
  // Begins a call, which ends as `said_` tells.
  void begin(std::string run, CallQuestions* questions) {
    auto waits = std::count(server_.methods.begin(), server_.methods.end(), "tools/call");
    McpServer ref{.name = "s", .url = "config:s", .headers = {}, .tool_filter = {}};
    auto decls = run_task(io_, tools_->ask(ref, somebody())).value();
    ToolPtr tool = tools_->open(decls.at(0), ref, somebody());
    calls_.spawn("call", invoke(tool, std::move(run), questions, &said_));
    run_until(io_, [&] {
      return std::count(server_.methods.begin(), server_.methods.end(), "tools/call") > waits;
    });
  }
  std::string ask(std::string method, json::Object params) {
    auto answer = run_task(io_, server_.ask(std::move(method), std::move(params))).value();
    const auto* value = std::get_if<json::Value>(&answer);
    return value ? json::write(*value) : std::get<rpc::RpcError>(answer).message;
  }
  static json::Object form() {
    return {{"message", "Who?"}, {"requestedSchema", json::Object{{"type", "object"}}}};
  }
  static json::Object sampling() {
    json::Object text{{"type", "text"}, {"text", "?"}};
    json::Object image{{"type", "image"}, {"data", "aGk="}, {"mimeType", "image/png"}};
    json::Object message{{"role", "user"}, {"content", json::Array{text, image}}};
    return {{"messages", json::Array{message}}, {"systemPrompt", "Be brief."}, {"maxTokens", 9}};
  }

  FakeQuestions questions_;
  std::string said_;
  std::optional<McpTools> tools_;
};

class ModernRunCallsTest : public RunCallsTest {
 protected:
  ModernRunCallsTest() : RunCallsTest(Era::modern) {}
};

TEST_F(RunCallsTest, TheRunAnswersWhatTheServerAsksInTheMiddleOfACall) {
  server_.hang_on("tools/call");
  begin("run_1", &questions_);
  EXPECT_EQ(ask("elicitation/create", form()), R"({"action":"accept","content":{}})");
  EXPECT_EQ(questions_.client_questions, Names{R"({"tool":"s_one","message":"Who?","mode":"form",)"
                                               R"("requestedSchema":{"type":"object"}})"});
  EXPECT_EQ(ask("sampling/createMessage", sampling()),
            R"({"role":"assistant","content":{"type":"text","text":"yes"},"model":"m",)"
            R"("stopReason":"maxTokens"})");
  const ModelQuestion& asked = questions_.model_questions.at(0);
  EXPECT_EQ(asked.system_prompt, "Be brief.");
  EXPECT_EQ(asked.output_tokens_max, 9);
  EXPECT_EQ(asked.messages.at(0).text, "?");
  EXPECT_EQ(*asked.messages.at(0).files.at(0).bytes, "hi");
}

TEST_F(RunCallsTest, AnAnswerOfTheModelEndsBeforeTheFirstStopSequence) {
  server_.hang_on("tools/call");
  begin("run_1", &questions_);
  json::Object asked = sampling();
  asked["stopSequences"] = json::Array{"", "never", "s", "es"};
  EXPECT_EQ(ask("sampling/createMessage", asked),
            R"({"role":"assistant","content":{"type":"text","text":"y"},"model":"m",)"
            R"("stopReason":"stopSequence"})");
}

TEST_F(RunCallsTest, ACallThatNeedsPagesIsRepeatedOnceTheUserHasAgreedToOpenThem) {
  server_.on("tools/call", [this](const rpc::Request&) -> rpc::Answer {
    if (!questions_.client_questions.empty()) return json::Value(text_result("hi"));
    json::Object page{{"mode", "url"}, {"url", "https://a"}, {"message", "Log in."}};
    json::Object data{{"elicitations", json::Array{page}}};
    return rpc::RpcError{.code = -32042, .message = "log in", .data = json::Value(data)};
  });
  begin("run_1", &questions_);
  run_until(io_, [this] { return !said_.empty(); });
  EXPECT_EQ(said_, "ok: hi");
  EXPECT_EQ(questions_.client_questions,
            Names{R"({"tool":"s_one","message":"Log in.","mode":"url","url":"https://a"})"});
}

TEST_F(RunCallsTest, ACallWhosePagesTheUserDeclinesFails) {
  questions_.answer = ToolAnswer{.text = R"({"action":"decline"})"};
  server_.on("tools/call", [](const rpc::Request&) -> rpc::Answer {
    json::Object data{{"elicitations", json::Array{json::Object{{"url", "https://a"}}}}};
    return rpc::RpcError{.code = -32042, .message = "log in", .data = json::Value(data)};
  });
  begin("run_1", &questions_);
  run_until(io_, [this] { return !said_.empty(); });
  EXPECT_EQ(said_,
            "failed: The MCP server could not be asked: the server answers with error -32042: "
            "log in");
  EXPECT_EQ(std::count(server_.methods.begin(), server_.methods.end(), "tools/call"), 1);
}

TEST_F(ModernRunCallsTest, ChangesOfAConfiguredServerArePassedOnToTheWorkspace) {
  std::vector<std::string> told;
  tools_->on_offered_changed([&told](const WorkspaceSlug& slug) { told.push_back(slug.str()); });
  server_.hang_on("subscriptions/listen");
  EXPECT_EQ(run_task(io_, tools_->offered(somebody())).value().size(), 2U);
  server_.tell("notifications/tools/list_changed");
  run_until(io_, [&told] { return !told.empty(); });
  EXPECT_EQ(told, Names{"w"});
}

TEST_F(ModernRunCallsTest, ANewRunHasTheToolsThatTheServerHasNow) {
  server_.hang_on("subscriptions/listen");
  McpServer ref{.name = "s", .url = "config:s", .headers = {}, .tool_filter = {}};
  EXPECT_EQ(run_task(io_, tools_->ask(ref, somebody())).value().size(), 2U);
  server_.offer({"three"});
  server_.tell("notifications/tools/list_changed");
  run_ready(io_);
  auto decls = run_task(io_, tools_->ask(ref, somebody())).value();
  ASSERT_EQ(decls.size(), 1U);
  EXPECT_EQ(decls[0].name, "s_three");
}

TEST_F(RunCallsTest, NobodyAnswersBetweenCalls) {
  server_.on_call(text_result("hi"));
  begin("run_1", &questions_);
  run_until(io_, [this] { return !said_.empty(); });
  EXPECT_EQ(said_, "ok: hi");
  EXPECT_EQ(ask("elicitation/create", form()), "no call is under way that could answer this");
  EXPECT_EQ(ask("sampling/createMessage", sampling()),
            "no call is under way that could answer this");
}

TEST_F(RunCallsTest, OnlyRunsOfferToAnswer) {
  server_.on_call(text_result("hi"));
  begin("run_1", nullptr);
  run_until(io_, [this] { return !said_.empty(); });
  EXPECT_EQ(ask("elicitation/create", form()), "elicitation/create is not supported");
  std::vector<std::string> capabilities;
  for (const std::string& message : server_.sent) {
    json::Value sent = *json::parse(message);
    const json::Value* method = sent.as_object().if_contains("method");
    if (!method || *method != "initialize") continue;
    capabilities.push_back(json::write(sent.at("params").at("capabilities")));
  }
  // The run asks for its tools by one client, and the call of no run is made by another.
  EXPECT_EQ(capabilities, (Names{R"({"sampling":{},"elicitation":{"form":{},"url":{}}})", "{}"}));
}

TEST_F(RunCallsTest, AQuestionThatMayBeOfEitherRunIsNotAnswered) {
  server_.hang_on("tools/call");
  FakeQuestions others;
  begin("run_1", &questions_);
  begin("run_1", &questions_);
  EXPECT_EQ(ask("elicitation/create", form()), R"({"action":"accept","content":{}})");
  begin("run_2", &others);
  EXPECT_EQ(ask("elicitation/create", form()),
            "several runs use this server at once, and the request does not say which call it "
            "belongs to");
  EXPECT_EQ(ask("roots/list", {}), "roots/list is not supported");
  EXPECT_EQ(others.client_questions, Names());
}

TEST_F(RunCallsTest, AnAnswerThatComesAfterTheCallIsOverReachesNobody) {
  server_.hang_on("tools/call");
  questions_.answer.reset();
  begin("run_1", &questions_);
  auto wait = [](FakeServer* server) -> Task<void> {
    [[maybe_unused]] auto answer = co_await server->ask("elicitation/create", form());
  };
  TaskGroup asking(io_.get_executor(), report_bug);
  asking.spawn("ask", wait(&server_));
  run_until(io_, [this] { return questions_.pending != nullptr; });
  run_task(io_, calls_.stop(CancelReason::user_stop));
  questions_.pending->settle(ToolAnswer{.text = "late"});
  run_until(io_, [&] { return asking.size() == 0; });
  EXPECT_EQ(server_.cancelled, 1);
}

TEST_F(ModernRunCallsTest, InputThatACallNeedsComesFromItsRun) {
  server_.on("tools/call", [](const rpc::Request& request) -> rpc::Answer {
    const json::Value* given = request.params.if_contains("inputResponses");
    if (given) return json::Value(text_result(json::write(*given)));
    json::Object first{{"method", "elicitation/create"}, {"params", form()}};
    json::Object second{{"method", "sampling/createMessage"}, {"params", sampling()}};
    return json::Value(json::Object{{"resultType", "input_required"},
                                    {"inputRequests", {{"a", first}, {"b", second}}}});
  });
  begin("run_1", &questions_);
  run_until(io_, [this] { return !said_.empty(); });
  EXPECT_EQ(said_,
            R"(ok: {"a":{"action":"accept","content":{}},"b":{"role":"assistant",)"
            R"("content":{"type":"text","text":"yes"},"model":"m","stopReason":"maxTokens"}})");
  json::Value sent = *json::parse(server_.sent.back());
  EXPECT_EQ(
      json::write(sent.at("params").at("_meta").at("io.modelcontextprotocol/clientCapabilities")),
      R"({"sampling":{},"elicitation":{"form":{},"url":{}}})");
}

}  // namespace
}  // namespace errand::mcp::test::call_features_test
