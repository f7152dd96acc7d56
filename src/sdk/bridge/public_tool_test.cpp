#include "sdk/bridge/public_tool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <future>
#include <set>
#include <thread>

#include "async/task_group.hpp"
#include "base/text.hpp"
#include "json/write.hpp"
#include "sdk/api/values.hpp"
#include "sdk/bridge/called_here.hpp"
#include "sdk/toolbox.hpp"
#include "support/run_task.hpp"

namespace errand::sdk::public_tool_test {
namespace {

struct City {
  std::string name;
};

class PublicToolTest : public testing::Test {
 protected:
  ~PublicToolTest() override { handlers_.close(); }

  static ToolCall call(std::string id, json::Object arguments = {}) {
    return {.run = *RunId::parse("run_1"),
            .id = *ToolUseId::parse(id),
            .arguments = std::move(arguments)};
  }
  ToolOutcome invoke(const v1::Tool& tool, json::Object arguments = {}) {
    ToolPtr made = bridge_tool(handlers_, tool);
    return run_task(io_, made->invoke(call("tu_1", std::move(arguments)), {}));
  }

  asio::io_context io_{1};
  HandlerServices services_{.secrets = [](std::string_view name) -> std::optional<std::string> {
    if (name == "token") return "t0p";
    return {};
  }};
  AsioTimers timers_{Home(io_)};
  Handlers handlers_{io_.get_executor(), timers_, 8, services_};
};

TEST_F(PublicToolTest, ToolsDeclareWhatTheirOptionsSay) {
  v1::Tool tool = v1::tool("look", "Looks.", [](const City& city) { return city; },
                           {.title = "Look",
                            .read_only = true,
                            .long_running = true,
                            .parallel_safe = false,
                            .timeout = std::chrono::seconds(3)});
  ToolDecl decl = bridge_tool(handlers_, tool)->decl();
  EXPECT_EQ(decl.name, "look");
  EXPECT_EQ(decl.title, "Look");
  EXPECT_EQ(decl.description, "Looks.");
  EXPECT_EQ(*decl.input_schema, v1::detail::to_value(tool.input_schema()).as_object());
  EXPECT_EQ(*decl.output_schema, v1::detail::to_value(*tool.output_schema()).as_object());
  EXPECT_EQ(decl.annotations, (ToolAnnotations{.read_only = true,
                                               .parallel_safe = false,
                                               .long_running = true,
                                               .checks_results = true,
                                               .timeout = milliseconds(3000)}));
}

TEST_F(PublicToolTest, AHandlerKnowsItsCallAndItsSecrets) {
  v1::Tool tool = v1::tool("who", "", [](v1::ToolContext& context) {
    return cat(context.run_id(), " ", context.call_id(), " ", context.info().tool, " ",
               context.secret("token"), " ", context.find_secret("other") ? "other" : "none");
  });
  EXPECT_EQ(text_of(invoke(tool)), "run_1 tu_1 who [redacted] none");
}

// Secrets of a workspace.
class Vault final : public SecretSource {
 public:
  Task<Result<std::string>> find(WorkspaceSlug, std::string name) override {
    if (name == "vaulted") co_return std::string("s3cret");
    co_return Error(ErrorCode::not_found, "none");
  }
  Task<Result<std::string>> unseal_header(WorkspaceSlug, std::string, std::string) override {
    co_return Error(ErrorCode::not_found, "none");
  }
};

TEST_F(PublicToolTest, HandlersRunOnThreadsOfTheirOwn) {
  // Each handler waits for the other one: in turn they would wait forever.
  std::promise<void> both;
  std::shared_future<void> met = both.get_future().share();
  std::atomic<int> count = 0;
  v1::Tool tool = v1::tool("meet", "", [&] {
    if (++count == 2) both.set_value();
    met.wait();
    return "met";
  });
  ToolPtr made = bridge_tool(handlers_, tool);
  TaskGroup group(io_.get_executor(), [](const char*, const std::string&) {});
  std::vector<std::string> texts;
  struct Keep {
    static Task<void> run(ToolPtr tool, ToolCall call, std::vector<std::string>* texts) {
      ToolOutcome outcome = co_await tool->invoke(std::move(call), {});
      texts->push_back(text_of(outcome));
    }
  };
  group.spawn("one", Keep::run(made, call("tu_1"), &texts));
  group.spawn("two", Keep::run(made, call("tu_2"), &texts));
  run_task(io_, group.join());
  EXPECT_EQ(texts, (std::vector<std::string>{"met", "met"}));
}

TEST_F(PublicToolTest, FailuresReachTheModelAndFatalOnesEndTheRun) {
  ToolOutcome failed =
      invoke(v1::tool("fail", "", []() -> std::string { throw std::runtime_error("no network"); }));
  EXPECT_EQ(failed.kind, ToolOutcome::Kind::failed);
  EXPECT_EQ(text_of(failed), "no network");
  ToolOutcome fatal =
      invoke(v1::tool("end", "", []() -> std::string { throw v1::FatalToolError("broken"); }));
  EXPECT_EQ(fatal.kind, ToolOutcome::Kind::fatal);
  EXPECT_EQ(text_of(fatal), "broken");
}

TEST_F(PublicToolTest, EveryKindOfContentIsPassedOn) {
  ToolOutcome outcome = invoke(v1::tool("all", "", [] {
    return std::vector<v1::Content>{
        v1::TextContent{"text"},
        v1::JsonContent{v1::Json::object({{"a", 1}})},
        v1::ImageContent{"PNG", "image/png"},
        v1::AudioContent{"WAV", "audio/wav"},
        v1::FileContent{"a,b", "text/csv", "t.csv"},
        v1::LinkContent{"https://e.org", "site"},
        v1::ResourceContent{.uri = "x://1", .text = "inside"},
        v1::ResourceContent{.uri = "x://2", .bytes = "raw", .mime_type = "text/plain"},
        v1::EmptyContent{}};
  }));
  FlatContent flat = flatten(std::move(outcome.content));
  EXPECT_EQ(flat.text, "text\n{\"a\":1}\nsite: https://e.org\ninside");
  std::vector<std::string> files;
  for (const FilePart& file : flat.files) {
    files.push_back(cat(file.filename, " ", file.mime_type, " ", *file.bytes));
  }
  EXPECT_EQ(files,
            (std::vector<std::string>{"image-1.png image/png PNG", "audio-2.wav audio/wav WAV",
                                      "t.csv text/csv a,b", "2 text/plain raw"}));
}

TEST_F(PublicToolTest, StructuredResultsStaySo) {
  ToolOutcome outcome =
      invoke(v1::tool("same", "", [](const City& city) { return city; }), {{"name", "Lagos"}});
  EXPECT_EQ(json::write(*outcome.structured), R"({"name":"Lagos"})");
  EXPECT_EQ(text_of(outcome), R"({"name":"Lagos"})");
}

// Takes reports in order.
class Reports final : public ProgressSink {
 public:
  void report(ProgressReport report) override {
    seen.push_back(cat(report.message, " ", static_cast<int>(report.progress.value_or(-1)), "/",
                       static_cast<int>(report.total.value_or(-1))));
  }
  std::vector<std::string> seen;
};

TEST_F(PublicToolTest, ProgressIsReportedAtHome) {
  ToolPtr tool = bridge_tool(handlers_, v1::tool("slow", "", [](v1::ToolContext& context) {
                               context.progress("half", 1, 2);
                               context.progress("soon");
                             }));
  Reports reports;
  run_task(io_, tool->invoke(call("tu_1"), {.who = {}, .progress = &reports}));
  EXPECT_EQ(reports.seen, (std::vector<std::string>{"half 1/2", "soon -1/-1"}));
}

TEST_F(PublicToolTest, SecretsOfTheVaultReachHandlersAndNobodyElse) {
  std::string found;
  ToolPtr tool = bridge_tool(handlers_, v1::tool("use", "", [&](v1::ToolContext& context) {
                               found = context.secret("vaulted");
                               context.progress(cat("with ", found));
                               return cat(found, context.find_secret("none") ? "!" : "");
                             }));
  Vault vault;
  CallSecrets secrets(&vault, *WorkspaceSlug::parse("default"));
  Reports reports;
  ToolOutcome outcome = run_task(
      io_, tool->invoke(call("tu_1"), {.who = {}, .progress = &reports, .secrets = &secrets}));
  EXPECT_EQ(found, "s3cret");
  EXPECT_EQ(text_of(outcome), "[redacted]");
  EXPECT_EQ(reports.seen, (std::vector<std::string>{"with [redacted] -1/-1"}));
}

TEST_F(PublicToolTest, ACancelledCallReturnsAtOnceAndItsHandlerLearnsIt) {
  std::promise<void> begun;
  std::promise<bool> ended;
  ToolPtr tool = bridge_tool(handlers_, v1::tool("slow", "", [&](v1::ToolContext& context) {
                               begun.set_value();
                               while (!context.cancelled()) std::this_thread::yield();
                               ended.set_value(true);
                             }));
  TaskGroup group(io_.get_executor(), [](const char*, const std::string&) {});
  struct Call {
    static Task<void> run(ToolPtr tool, ToolCall call) {
      co_await tool->invoke(std::move(call), {});
    }
  };
  group.spawn("call", Call::run(tool, call("tu_1")));
  run_ready(io_);
  begun.get_future().wait();
  run_task(io_, group.stop(CancelReason::user_stop));
  EXPECT_TRUE(ended.get_future().get());
}

TEST_F(PublicToolTest, ACallPastItsDeadlineIsCancelledForItsHandler) {
  v1::Tool slow = v1::tool("slow", "",
                           [](v1::ToolContext& context) {
                             while (!context.cancelled()) std::this_thread::yield();
                             return context.deadline().has_value() ? "deadline" : "none";
                           },
                           {.timeout = std::chrono::milliseconds(1)});
  // On a busy machine the time may be over before the handler has a thread.
  std::string text;
  do {
    text = text_of(invoke(slow));
  } while (text == "The time for this call was over before it began.");
  EXPECT_EQ(text,
            "The call took longer than 1 ms and was cut off. It may or may not have taken effect.");
}

TEST_F(PublicToolTest, AFailureMayCancelTheCallsBesideIt) {
  std::promise<void> begun;
  ToolPtr slow = bridge_tool(handlers_, v1::tool("slow", "", [&](v1::ToolContext& context) {
                               begun.set_value();
                               while (!context.cancelled()) std::this_thread::yield();
                             }));
  ToolPtr failing =
      bridge_tool(handlers_, v1::tool("fail", "",
                                      [started = begun.get_future().share()]() -> std::string {
                                        started.wait();
                                        throw std::runtime_error("no");
                                      },
                                      {.cancel_siblings_on_failure = true}));
  TaskGroup group(io_.get_executor(), [](const char*, const std::string&) {});
  std::set<std::string> texts;
  struct Keep {
    static Task<void> run(ToolPtr tool, ToolCall call, std::set<std::string>* texts) {
      ToolOutcome outcome = co_await tool->invoke(std::move(call), {});
      texts->insert(text_of(outcome));
    }
  };
  group.spawn("one", Keep::run(slow, call("tu_1"), &texts));
  group.spawn("two", Keep::run(failing, call("tu_2"), &texts));
  run_task(io_, group.join());
  EXPECT_EQ(texts, (std::set<std::string>{
                       "no", "This call was cancelled because a call beside it failed."}));
}

TEST_F(PublicToolTest, AToolkitChecksAsItIsTold) {
  v1::Toolkit lenient({.name = "k",
                       .tools = {v1::tool("look", "", [](const City& city) { return city.name; })},
                       .validation = v1::Validation::none});
  ToolPtr tool = bridge_toolkit(handlers_, lenient).at(0);
  ToolOutcome outcome =
      run_task(io_, tool->invoke(call("tu_1", {{"name", "Oslo"}, {"more", 1}}), {}));
  EXPECT_EQ(text_of(outcome), "Oslo");
}

TEST_F(PublicToolTest, TwoToolsOfANameAreRefused) {
  v1::Tool tool = v1::tool("now", "", [] { return "noon"; });
  v1::Toolkit toolkit({.name = "k", .tools = {tool}});
  auto tools = bridge_tools(handlers_, {tool}, {toolkit});
  EXPECT_EQ(tools.error().describe(), "two tools are named now");
}

TEST_F(PublicToolTest, RulesFollowTheSystemPrompt) {
  v1::Tool tool = v1::tool("now", "", [] { return "noon"; }, {.rules = {"Ask the time once."}});
  v1::Toolkit toolkit({.name = "k", .rules = {"Be brief."}, .tools = {tool}});
  EXPECT_EQ(with_rules("You help.", {}, {toolkit}),
            "You help.\n\n- Be brief.\n- Ask the time once.");
  EXPECT_EQ(with_rules("", {tool}, {}), "- Ask the time once.");
  EXPECT_EQ(with_rules("You help.", {}, {}), "You help.");
}

TEST_F(PublicToolTest, AsLocalToolsTheyCarryTheirSchemas) {
  std::vector<ToolPtr> tools{bridge_tool(
      handlers_,
      v1::tool("look", "Looks.", [](const City& city) { return city; }, {.long_running = true}))};
  EXPECT_EQ(
      json::write(to_json(*lend_as_client(tools))),
      R"([{"kind":"local","name":"look","description":"Looks.","parameters":{"type":"object",)"
      R"("properties":{"name":{"type":"string"}},"required":["name"],)"
      R"("additionalProperties":false},"outputSchema":{"type":"object",)"
      R"("properties":{"name":{"type":"string"}},"required":["name"],)"
      R"("additionalProperties":false},"longRunning":true,"checksResults":true}])");
}

// A tool of the engine that remembers the thread of its call.
class ThreadTool final : public Tool {
 public:
  explicit ThreadTool(std::thread::id& thread) : thread_(thread) {}
  static ToolDecl declared() {
    return {.name = "where",
            .description = "Where it runs.",
            .input_schema = share_schema({{"type", "object"}}),
            .annotations = {.read_only = true, .timeout = milliseconds(3000)}};
  }
  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall, ToolContext) override {
    thread_ = std::this_thread::get_id();
    co_return failed_outcome("Here.");
  }

 private:
  std::thread::id& thread_;
  const ToolDecl decl_ = declared();
};

TEST_F(PublicToolTest, RunsCallAToolOfTheEngineAtHome) {
  std::thread::id thread;
  v1::Tool tool = engine_tool(ThreadTool::declared(),
                              [&thread] { return std::make_shared<ThreadTool>(thread); });
  EXPECT_EQ(bridge_tool(handlers_, tool)->decl().annotations, ThreadTool::declared().annotations);
  EXPECT_FALSE(invoke(tool).ok());
  EXPECT_EQ(thread, std::this_thread::get_id());
  EXPECT_TRUE(is_same_tool(*bridge_tool(handlers_, tool), *bridge_tool(handlers_, tool)));
  ToolPtr of_kit = bridge_toolkit(handlers_, v1::Toolkit({.name = "kit", .tools = {tool}})).front();
  thread = {};
  EXPECT_FALSE(run_task(io_, of_kit->invoke(call("tu_1"), {})).ok());
  EXPECT_EQ(thread, std::this_thread::get_id());
}

TEST_F(PublicToolTest, OthersCallAToolOfTheEngineOnTheirThread) {
  std::thread::id thread;
  v1::Tool tool = engine_tool(ThreadTool::declared(),
                              [&thread] { return std::make_shared<ThreadTool>(thread); });
  EXPECT_EQ(tool.call(v1::Json::object({})).outcome, v1::ToolOutcome::failed);
  EXPECT_EQ(thread, std::this_thread::get_id());
}

}  // namespace
}  // namespace errand::sdk::public_tool_test
