// The verbs on runs, which are the same over HTTP and in this process.
#include "sdk/run_api.hpp"

#include <memory>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "net/server/http_server.hpp"
#include "sdk/embedded/embedded_api.hpp"
#include "sdk/http/http_api.hpp"
#include "sdk/test_host.hpp"
#include "sdk/toolbox.hpp"
#include "server/api.hpp"
#include "server/error_body.hpp"

namespace errand::sdk::run_api_test {
namespace {

// Answers with its arguments.
class EchoTool final : public Tool {
 public:
  EchoTool() {
    decl_.name = "echo";
    decl_.description = "Echo a word.";
    decl_.input_schema =
        share_schema({{"type", "object"}, {"properties", {{"word", {{"type", "string"}}}}}});
    decl_.annotations.read_only = true;
  }

  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall call, ToolContext) override {
    co_return text_outcome(cat("echo ", json::view(call.arguments["word"].as_string())));
  }

 private:
  ToolDecl decl_;
};

std::vector<ToolPtr> echo_tools() {
  return {std::make_shared<EchoTool>()};
}

enum class Way { http, embedded };

class RunApiTest : public HostTest, public testing::WithParamInterface<Way> {
 protected:
  void SetUp() override {
    routes_.add_routes(router_);
    if (GetParam() == Way::embedded) {
      api_ = std::make_unique<EmbeddedApi>(host_);
      return;
    }
    auto key = value_of(host_.keys().create(*WorkspaceSlug::parse("default"), {}, "secret"));
    auto bound = server_.listen("127.0.0.1", 0);
    ASSERT_TRUE(bound);
    api_ = std::make_unique<HttpApi>(
        Credentials{.url = cat("http://127.0.0.1:", bound->port), .key = key.secret},
        net::ClientOptions());
  }
  void TearDown() override {
    api_.reset();
    if (GetParam() == Way::http) run_task(io_, server_.stop(SteadyTime()));
    HostTest::TearDown();
  }

  Spec spec() const {
    Spec spec{.name = "n", .prompt = "Go.", .tools = lend_as_client(tools_.tools())};
    spec.metadata = {{"a", "b"}};
    return spec;
  }
  std::vector<std::string> follow(const RunId& run, bool answers = true) {
    RunStream stream(*api_, host_.timers(), run, 0, RunStream::FirstFailure::is_final);
    LocalCalls calls(*api_, host_.timers(), io_.get_executor(), tools_, [](std::string_view) {});
    auto lines = run_task(io_, lines_until_end(&stream, answers ? &calls : nullptr));
    run_task(io_, calls.stop());
    return lines;
  }
  static std::string shown(const Error& error) {
    return cat(to_string(error.code()), "|", error.reason(), "|", error.message(), "|",
               error.pointer(), "|", error.hint());
  }

  const RunId nobody_ = *RunId::parse("run_none");
  FixedTools tools_{echo_tools()};
  server::Api routes_{host_.engine(), host_.keys(), {}};
  net::Router router_{server::render_error};
  net::HttpServer server_{
      host_.home(),
      {.handler = [this](net::Request request) { return router_.handle(std::move(request)); },
       .render_error = server::render_error,
       .limits = {}},
      log_};
  std::unique_ptr<RunApi> api_;
};

INSTANTIATE_TEST_SUITE_P(, RunApiTest, testing::Values(Way::http, Way::embedded),
                         [](const auto& way) {
                           return way.param == Way::http ? "OverHttp" : "InThisProcess";
                         });

TEST_P(RunApiTest, ARunIsFollowedAndItsCallsAreAnswered) {
  RunId run = value_of(api_->create(spec()));
  std::vector<std::string> types;
  for (const std::string& line : follow(run)) {
    types.emplace_back(type_of(parse_event(line)->event));
  }
  EXPECT_EQ(types, (std::vector<std::string>{
                       "assistant_delta", "local_tool_call", "assistant_message", "tool_result",
                       "local_tool_result_in", "assistant_delta", "assistant_message", "result"}));
  RunInfo info = value_of(api_->get(run));
  EXPECT_EQ(info.id, run);
  EXPECT_EQ(info.name, "n");
  EXPECT_EQ(info.status, RunStatus::succeeded);
  EXPECT_EQ(info.model_id, "s");
  EXPECT_EQ(info.last_seq, 8);
  EXPECT_EQ(info.metadata, (Metadata{{"a", "b"}}));
  EXPECT_EQ(info.error, "");
  EXPECT_EQ(info.final_text, "Done.");
  EXPECT_TRUE(info.pending.empty());
}

TEST_P(RunApiTest, AForkGoesOnFromTheRunBefore) {
  RunId first = value_of(api_->create(spec()));
  follow(first);
  RunId second = value_of(api_->fork(first, {.overrides = {.prompt = "And?"}}));
  follow(second);
  std::vector<std::string> said;
  for (const JournalEntry& entry : value_of(api_->journal(second))) {
    if (const auto* turn = std::get_if<TurnEntry>(&entry); turn && turn->prompt) {
      said.push_back(*turn->prompt);
    }
    if (const auto* created = std::get_if<CreatedEntry>(&entry)) {
      said.push_back(*created->spec.prompt);
      EXPECT_EQ(created->forked_from->run, first);
    }
  }
  EXPECT_EQ(said, (std::vector<std::string>{"Go.", "And?"}));
}

TEST_P(RunApiTest, ACallThatWaitsIsToldAndACancelEndsTheRun) {
  RunId run = value_of(api_->create(spec()));
  auto source = value_of(api_->open_stream(run, 0));
  RunInfo info;
  while (info.pending.empty()) {
    EXPECT_TRUE(run_task(io_, source->read()));
    info = value_of(api_->get(run));
  }
  EXPECT_EQ(info.pending.at(0).name, "echo");
  EXPECT_EQ(info.pending.at(0).args, R"({"word":"a"})");
  EXPECT_EQ(info.pending.at(0).kind, "local");
  EXPECT_EQ(info.pending.at(0).echo, nullptr);
  EXPECT_FALSE(is_terminal(info.status));
  EXPECT_EQ(value_of(api_->cancel(run, seconds(5))), RunStatus::cancelled);
  auto end = end_of(parse_event(follow(run, false).back())->event);
  EXPECT_EQ(end->kind, RunEnd::Kind::cancelled);
  EXPECT_EQ(shown(error_of(api_->answer(run, info.pending.at(0).id, {}))),
            "conflict|run_terminal|the run has ended||");
}

TEST_P(RunApiTest, RunsAreListedAndFiltered) {
  RunId first = value_of(api_->create(spec()));
  Spec other = spec();
  other.metadata.clear();
  RunId second = value_of(api_->create(other));
  RunPage latest = value_of(api_->list({.limit = 1}));
  ASSERT_EQ(latest.runs.size(), 1U);
  EXPECT_EQ(latest.runs[0].id, second);
  RunPage rest = value_of(api_->list({.cursor = latest.next_cursor}));
  ASSERT_EQ(rest.runs.size(), 1U);
  EXPECT_EQ(rest.runs[0].id, first);
  EXPECT_EQ(rest.next_cursor, "");
  RunPage found = value_of(api_->list({.metadata = {{"a", "b"}}}));
  ASSERT_EQ(found.runs.size(), 1U);
  EXPECT_EQ(found.runs[0].metadata, (Metadata{{"a", "b"}}));
  EXPECT_TRUE(value_of(api_->list({.status = RunStatus::failed})).runs.empty());
}

TEST_P(RunApiTest, ModelsAreToldAndChecked) {
  auto list = value_of(api_->models({}));
  EXPECT_EQ(list.default_id, "s");
  ASSERT_EQ(list.models.size(), 1U);
  EXPECT_EQ(list.models[0].info,
            (ModelInfo{.id = "s", .provider = "scripted", .vendor_model_id = "v"}));
  EXPECT_EQ(list.models[0].label, "S");
  EXPECT_FALSE(list.models[0].pricing);
  EXPECT_FALSE(list.models[0].reachability);
  auto checked = value_of(api_->models({.check = engine::ModelCheck::made}));
  EXPECT_EQ(checked.models.at(0).reachability, llm::Reachability());
}

TEST_P(RunApiTest, ErrorsAreTheSame) {
  const std::string unknown = "not_found||there is no such run||";
  EXPECT_EQ(shown(error_of(api_->get(nobody_))), unknown);
  EXPECT_EQ(shown(error_of(api_->journal(nobody_))), unknown);
  EXPECT_EQ(shown(error_of(api_->open_stream(nobody_, 0))), unknown);
  EXPECT_EQ(shown(error_of(api_->fork(nobody_, {}))), unknown);
  EXPECT_EQ(shown(error_of(api_->cancel(nobody_, seconds(5)))),
            "not_found||there is no run \"run_none\"||");
  EXPECT_EQ(shown(error_of(api_->answer(nobody_, *ToolUseId::parse("tu_1"), {}))),
            "not_found||there is no run \"run_none\"||");
  Spec wrong = spec();
  wrong.model_id = "x";
  Error no_model = error_of(api_->create(wrong));
  EXPECT_EQ(no_model.reason(), "invalid_model");
  EXPECT_EQ(no_model.candidates(), std::vector<std::string>{"s"});
  wrong = spec();
  wrong.output_schema =
      OutputSchema{.schema = share_schema({{"title", std::string(kOutputSchemaBytesMax, 'x')}})};
  EXPECT_EQ(shown(error_of(api_->create(wrong))),
            "invalid_argument||the output schema has 32791 bytes as JSON; at most 32768 are "
            "allowed|/outputSchema|");
}

TEST_P(RunApiTest, AnAnswerMayHaveFiles) {
  Spec asked = spec();
  RunId run = value_of(api_->create(asked));
  RunStream stream(*api_, host_.timers(), run, 0, RunStream::FirstFailure::is_final);
  std::string answered;
  while (answered.empty()) {
    auto item = value_of(stream.next());
    if (const auto* call = std::get_if<LocalToolCall>(&item.event.event)) {
      ToolAnswer answer{.text = "seen",
                        .files = {{.filename = "a.txt",
                                   .mime_type = "text/plain",
                                   .size = 3,
                                   .bytes = std::make_shared<const std::string>("abc")}}};
      auto sent = run_task(io_, api_->answer(run, call->id, answer));
      EXPECT_TRUE(sent);
    }
    if (std::holds_alternative<LocalToolResultIn>(item.event.event)) {
      append_event_line(answered, item.event);
    }
  }
  EXPECT_NE(answered.find(R"("files":[{"filename":"a.txt","mimeType":"text/plain","size":3}])"),
            std::string::npos);
}

TEST(Toolbox, DeclaresToolsAsARunTakesThem) {
  FixedTools tools(echo_tools());
  EXPECT_EQ(lend_as_client(tools.tools())->text,
            R"([{"kind":"local","name":"echo","description":"Echo a word.",)"
            R"("parameters":{"type":"object","properties":{"word":{"type":"string"}}},)"
            R"("readOnly":true}])");
  EXPECT_EQ(lend_as_client(tools.tools())->refs.size(), 1U);
  EXPECT_EQ(tools.find("echo")->decl().name, "echo");
  EXPECT_EQ(tools.find("other"), nullptr);
}

}  // namespace
}  // namespace errand::sdk::run_api_test
