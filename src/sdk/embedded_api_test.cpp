// The API of this process, and calls of a run that it answers itself.
#include "sdk/embedded_api.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "host/host.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "sdk/local_calls.hpp"
#include "sdk/run_stream.hpp"
#include "sdk/toolbox.hpp"
#include "store/memory/memory_store.hpp"
#include "support/run_task.hpp"

namespace errand::sdk {
namespace {

// Answers with its arguments, and tells which of its calls run.
class EchoTool final : public Tool {
 public:
  explicit EchoTool(std::string name, ToolAnnotations annotations = {}) {
    decl_.name = std::move(name);
    decl_.description = "Echo a word.";
    decl_.input_schema =
        share_schema({{"type", "object"}, {"properties", {{"word", {{"type", "string"}}}}}});
    decl_.annotations = annotations;
  }

  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall call) override {
    co_return ToolOutcome{.text = json::write(call.arguments)};
  }

 private:
  ToolDecl decl_;
};

class EmbeddedApiTest : public testing::Test {
 protected:
  json::Value send(ApiRequest request) {
    auto answer = run_task(io_, api_.send(std::move(request)));
    EXPECT_TRUE(answer) << answer.error().describe();
    return answer ? *answer : json::Value();
  }
  Error refusal(ApiRequest request) {
    auto answer = run_task(io_, api_.send(std::move(request)));
    EXPECT_FALSE(answer);
    return answer ? Error(ErrorCode::internal, "") : answer.error();
  }
  std::string create(std::string body) {
    json::Value made =
        send({.method = net::Method::post, .path = "/agent-runs", .body = std::move(body)});
    return std::string(json::view(made.as_object().at("runId").as_string()));
  }

  static host::Config scripted(std::string turns) {
    host::Config config;
    config.models = {{.info = {.id = "s", .provider = "scripted", .vendor_model_id = "s"},
                      .label = "S",
                      .script = *llm::parse_script(turns)}};
    return config;
  }

  void TearDown() override { run_task(io_, host_.engine().stop()); }

  asio::io_context io_{1};
  SystemClock clock_;
  Log log_{clock_, STDERR_FILENO, LogFormat::text, LogLevel::warning};
  host::Host host_{{.io = io_, .clock = clock_, .log = log_},
                   scripted(R"({"turns":[
               {"text":["Hm."],"toolCalls":[{"name":"echo","args":{"word":"a"}},
                                            {"name":"nobody","args":{}}]},
               {"text":["Done."]}]})"),
                   std::make_unique<MemoryStore>(make_memory_store_data(), clock_)};
  EmbeddedApi api_{host_};
};

Task<std::vector<std::string>> types_until_end(RunStream* stream, LocalCalls* calls) {
  std::vector<std::string> types;
  for (;;) {
    auto item = co_await stream->next();
    if (!item) co_return types;
    if (item->event.type == "local_tool_call") calls->start(stream->run(), item->event);
    types.push_back(item->event.type);
    if (end_of(item->event)) co_return types;
  }
}

TEST_F(EmbeddedApiTest, AnswersAndRefusesAsAServerDoes) {
  EXPECT_EQ(json::write(send({.path = "/models"}).as_object().at("defaultModelId")), "\"s\"");
  Error unknown = refusal({.path = "/agent-runs/run_none"});
  EXPECT_EQ(unknown.code(), ErrorCode::not_found);
  Error wrong = refusal({.method = net::Method::post, .path = "/agent-runs", .body = "{"});
  EXPECT_EQ(wrong.code(), ErrorCode::invalid_argument);
}

TEST_F(EmbeddedApiTest, ARunIsFollowedAndItsCallsAreAnswered) {
  std::vector<std::unique_ptr<Tool>> tools;
  tools.push_back(std::make_unique<EchoTool>("echo"));
  Toolbox toolbox(std::move(tools));
  json::Array declared = toolbox.declarations();
  std::string run = create(json::write(json::Object{{"prompt", "Go."}, {"tools", declared}}));

  AsioTimers& timers = host_.timers();
  RunStream stream(api_, timers, run, 0, RunStream::FirstFailure::is_final);
  LocalCalls calls(api_, timers, io_.get_executor(), toolbox);
  auto types = run_task(io_, types_until_end(&stream, &calls));
  run_task(io_, calls.stop());
  EXPECT_EQ(types, (std::vector<std::string>{
                       "assistant_delta", "local_tool_call", "assistant_message", "tool_result",
                       "local_tool_result_in", "assistant_delta", "assistant_message", "result"}));
  json::Value end = send({.path = run_path(run, "")});
  EXPECT_EQ(json::write(end.as_object().at("status")), "\"succeeded\"");
}

TEST_F(EmbeddedApiTest, AStreamOfNoRunIsRefused) {
  auto stream = run_task(io_, api_.open_stream("run_none", 0, seconds(1)));
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().code(), ErrorCode::not_found);
}

TEST(Toolbox, DeclaresToolsAsARunTakesThem) {
  std::vector<std::unique_ptr<Tool>> tools;
  tools.push_back(std::make_unique<EchoTool>("echo", ToolAnnotations{.read_only = true}));
  Toolbox toolbox(std::move(tools));
  EXPECT_EQ(json::write(json::Value(toolbox.declarations())),
            R"([{"kind":"local","name":"echo","description":"Echo a word.",)"
            R"("parameters":{"type":"object","properties":{"word":{"type":"string"}}},)"
            R"("readOnly":true}])");
  EXPECT_EQ(toolbox.find("echo")->decl().name, "echo");
  EXPECT_EQ(toolbox.find("other"), nullptr);
}

}  // namespace
}  // namespace errand::sdk
