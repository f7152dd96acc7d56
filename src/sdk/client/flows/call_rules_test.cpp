// The rules of a call, in runs of a server and of a runtime.
#include <errand/runtime.hpp>
#include <errand/testing.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>

#include "base/text.hpp"
#include "sdk/client/flows/test_server.hpp"

namespace errand::v1::call_rules_test {
namespace {

enum class Way { client, runtime };

struct Number {
  int n;
};
struct Celsius {
  int celsius;
};

// A call, and what its result was.
struct Seen {
  std::string tool;
  bool ok;
  std::string text;

  bool operator==(const Seen&) const = default;
};

void PrintTo(const Seen& seen, std::ostream* out) {
  *out << seen.tool << (seen.ok ? " ok: " : " failed: ") << seen.text;
}

class CallRulesTest : public testing::TestWithParam<Way> {
 protected:
  // Runs a model that makes these calls in its first turn, and gives their results in order.
  std::vector<Seen> results_of(const std::vector<ScriptedCall>& calls, RunOptions options) {
    open(calls);
    options.prompt = "Go.";
    RunStream stream = runner().stream(std::move(options));
    std::vector<Seen> seen;
    for (const Event& event : stream) {
      const auto* answer = event.as<ToolAnswered>();
      if (answer) seen.push_back({answer->tool, answer->ok, answer->text});
      const auto* end = event.as<RunEnded>();
      if (end) EXPECT_EQ(end->reply.text, "Done.") << end->reply.error;
    }
    return seen;
  }

  std::size_t threads_max_ = HandlerOptions().threads_max;

  const Runner& runner() const {
    return runtime_ ? static_cast<const Runner&>(*runtime_) : static_cast<const Runner&>(*client_);
  }

 private:
  void open(const std::vector<ScriptedCall>& calls) {
    if (GetParam() == Way::runtime) {
      auto model = scripted({{.calls = calls}, {.text = "Done."}});
      runtime_ = std::make_unique<Runtime>(RuntimeOptions{
          .models = {{.id = "s", .model = model}}, .handlers = {.threads_max = threads_max_}});
      return;
    }
    std::string listed;
    for (const ScriptedCall& call : calls) {
      append(listed, listed.empty() ? "" : ",", R"({"name":")", call.tool, R"(","args":)",
             call.arguments.dump(), "}");
    }
    server_ = std::make_unique<sdk::TestServer>(
        cat(R"({"turns":[{"toolCalls":[)", listed, R"(]},{"text":["Done."]}]})"));
    ClientOptions options = server_->options();
    options.handlers.threads_max = threads_max_;
    client_ = std::make_unique<Client>(std::move(options));
  }

  std::unique_ptr<sdk::TestServer> server_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Runtime> runtime_;
};

INSTANTIATE_TEST_SUITE_P(, CallRulesTest, testing::Values(Way::client, Way::runtime),
                         [](const auto& way) {
                           return way.param == Way::client ? "OfAServer" : "OfARuntime";
                         });

Tool twice(ToolOptions options = {}) {
  return tool("twice", "", [](const Number& args) { return std::to_string(args.n * 2); }, options);
}

TEST_P(CallRulesTest, ACoercingToolTakesNumbersInTexts) {
  EXPECT_EQ(
      results_of({{"twice", Json::object({{"n", "3"}})}}, {.tools = {twice({.coerce = true})}}),
      (std::vector<Seen>{{"twice", true, "6"}}));
}

TEST_P(CallRulesTest, ACoercingToolStillRefusesWhatDoesNotFit) {
  std::vector<Seen> seen =
      results_of({{"twice", Json::object({{"n", "3.9"}})}}, {.tools = {twice({.coerce = true})}});
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_FALSE(seen[0].ok);
  EXPECT_NE(seen[0].text.find("/n"), std::string::npos) << seen[0].text;
}

TEST_P(CallRulesTest, AToolkitWithoutValidationLeavesUnknownMembersOut) {
  Toolkit kit({.name = "kit", .tools = {twice()}, .validation = Validation::none});
  EXPECT_EQ(
      results_of({{"twice", Json::object({{"n", "3"}, {"more", true}})}}, {.toolkits = {kit}}),
      (std::vector<Seen>{{"twice", true, "6"}}));
}

TEST_P(CallRulesTest, AToolkitAddsNullsThatAreRequired) {
  Json schema = Json::parse(R"({"type":"object","properties":{"n":{"type":["integer","null"]}},
                                "required":["n"]})")
                    .value();
  Tool null = tool("null", "", schema, [](const Json& args) { return args.dump(); });
  EXPECT_EQ(results_of({{"null", Json::object()}},
                       {.toolkits = {Toolkit({.name = "k", .tools = {null}})}}),
            (std::vector<Seen>{{"null", true, R"({"n":null})"}}));
}

TEST_P(CallRulesTest, TextBesideStructuredContentIsWhatTheModelReads) {
  Tool weather = tool("weather", "",
                      [] {
                        ToolResult result;
                        result.content.emplace_back(TextContent{"7 degrees"});
                        result.structured = Json::object({{"celsius", 7}});
                        return result;
                      },
                      {.output_schema = schema_of<Celsius>()});
  EXPECT_EQ(results_of({{"weather", Json::object()}}, {.tools = {weather}}),
            (std::vector<Seen>{{"weather", true, "7 degrees"}}));
}

TEST_P(CallRulesTest, StructuredContentThatDoesNotFitFails) {
  Tool weather = tool("weather", "",
                      [] {
                        ToolResult result;
                        result.content.emplace_back(TextContent{R"({"celsius":7})"});
                        result.structured = Json::object({{"celsius", "warm"}});
                        return result;
                      },
                      {.output_schema = schema_of<Celsius>()});
  std::vector<Seen> seen = results_of({{"weather", Json::object()}}, {.tools = {weather}});
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_FALSE(seen[0].ok);
  EXPECT_NE(seen[0].text.find("/celsius"), std::string::npos) << seen[0].text;
}

TEST_P(CallRulesTest, AHandlerThatIsTooSlowFailsAloneAndIsToldSo) {
  std::atomic<bool> was_told = false;
  Tool slow = tool("slow", "",
                   [&](ToolContext& context) {
                     while (!context.cancelled()) std::this_thread::yield();
                     was_told = true;
                   },
                   {.timeout = std::chrono::milliseconds(50)});
  EXPECT_EQ(results_of({{"slow", Json::object()}, {"twice", Json::object({{"n", 3}})}},
                       {.tools = {slow, twice()}}),
            (std::vector<Seen>{{"twice", true, "6"},
                               {"slow", false,
                                "The call took longer than 50 ms and was cut off. It may or may "
                                "not have taken effect."}}));
  while (!was_told) std::this_thread::yield();
}

TEST_P(CallRulesTest, AHandlerKnowsTheTimeoutOfItsRun) {
  std::atomic<bool> has_deadline = false;
  Tool look = tool("look", "",
                   [&](ToolContext& context) { has_deadline = context.deadline().has_value(); });
  results_of({{"look", Json::object()}}, {.tools = {look}, .tool_timeout = std::chrono::hours(1)});
  EXPECT_TRUE(has_deadline);
}

TEST_P(CallRulesTest, AFailureCancelsCallsThatHaveNotBegun) {
  std::atomic<int> made = 0;
  Tool fail = tool("fail", "", []() -> std::string { throw std::runtime_error("no"); },
                   {.parallel_safe = false, .cancel_siblings_on_failure = true});
  Tool later = tool("later", "", [&] { ++made; });
  EXPECT_EQ(
      results_of({{"fail", Json::object()}, {"later", Json::object()}}, {.tools = {fail, later}}),
      (std::vector<Seen>{{"fail", false, "no"},
                         {"later", false,
                          "This call was not made: a call beside it failed, and its tool "
                          "cancels the others."}}));
  EXPECT_EQ(made, 0);
}

TEST_P(CallRulesTest, AFailureCancelsCallsThatHaveBegun) {
  std::promise<void> begun;
  Tool wait = tool("wait", "", [&](ToolContext& context) {
    begun.set_value();
    while (!context.cancelled()) std::this_thread::yield();
  });
  Tool fail = tool("fail", "",
                   [has_begun = begun.get_future().share()]() -> std::string {
                     has_begun.wait();
                     throw std::runtime_error("no");
                   },
                   {.cancel_siblings_on_failure = true});
  std::vector<Seen> seen = results_of({{"wait"}, {"fail"}}, {.tools = {wait, fail}});
  std::ranges::sort(seen, {}, &Seen::tool);  // whichever is answered first
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0], (Seen{"fail", false, "no"}));
  EXPECT_FALSE(seen[1].ok);
  EXPECT_TRUE(seen[1].text.starts_with("This call was cancelled because a call beside it failed."))
      << seen[1].text;
}

TEST_P(CallRulesTest, ACallThatNobodyAnswersMayBeToldToTheModel) {
  EXPECT_EQ(results_of({{"twice", Json::object({{"n", 3}})}},
                       {.tools = {twice()},
                        .answer_calls = false,
                        .tool_timeout = std::chrono::milliseconds(50),
                        .on_tool_timeout = OnToolTimeout::tell_model}),
            (std::vector<Seen>{{"twice", false, "Timed out waiting for local tool result"}}));
}

// One call waits for the other, and there is one thread.
TEST_P(CallRulesTest, HandlersThatWaitForFuturesNeedNoThreadOfTheirOwn) {
  std::promise<std::string> said;
  auto listen = tool("listen", "", [&said] { return said.get_future(); });
  auto say = tool("say", "", [&said] {
    said.set_value("hello");
    return "said";
  });
  threads_max_ = 1;
  std::vector<Seen> seen = results_of({{"listen"}, {"say"}}, {.tools = {listen, say}});
  std::ranges::sort(seen, {}, &Seen::tool);  // whichever is answered first
  EXPECT_EQ(seen, (std::vector<Seen>{{"listen", true, "hello"}, {"say", true, "said"}}));
}

// ---- One way only -------------------------------------------------------------------------------

TEST(CallRules, HandlersOfANestedRunNeedNoThreadOfTheirOwn) {
  class Caller final : public Model {
   public:
    void ask(const Question& question, AnswerSink& sink) override {
      const QuestionMessage& last = question.messages.back();
      if (!last.results.empty()) return sink.text(last.results.front().text);
      sink.call(question.tools.front().name, Json::object());
    }
  };
  Runtime runtime({.models = {{.id = "m", .model = std::make_shared<Caller>()}},
                   .handlers = {.threads_max = 1}});
  Tool inner = tool("inner", "", [] { return "from inside"; });
  Tool outer =
      tool("outer", "", [&] { return runtime.run({.prompt = "In.", .tools = {inner}}).text; });
  EXPECT_EQ(runtime.run({.prompt = "Out.", .tools = {outer}}).text, "from inside");
}

TEST(CallRules, CallsOfToolsThatAClientLacksAreLeftToWorkers) {
  sdk::TestServer server(R"({"turns":[
      {"toolCalls":[{"name":"elsewhere","args":{}},{"name":"twice","args":{"n":3}}]},
      {"text":["Done."]}]})");
  Client client(server.options());
  Client helper(server.options());
  Json elsewhere = Json::object({{"kind", "local"}, {"name", "elsewhere"}, {"description", ""}});
  RunStream stream =
      client.stream({.prompt = "Go.", .tools = {twice()}, .server_tools = {elsewhere}});
  Worker worker = helper.serve(
      Toolkit({.name = "k", .tools = {tool("elsewhere", "", [] { return "by a worker"; })}}));
  std::vector<Seen> seen;
  for (const Event& event : stream) {
    const auto* answer = event.as<ToolAnswered>();
    if (answer) seen.push_back({answer->tool, answer->ok, answer->text});
  }
  // Whichever is answered first.
  std::ranges::sort(seen, {}, &Seen::tool);
  EXPECT_EQ(seen, (std::vector<Seen>{{"elsewhere", true, "by a worker"}, {"twice", true, "6"}}));
}

TEST(CallRules, RulesOfAForksToolsFollowThePromptOfTheRun) {
  auto model = scripted({{.text = "One."}, {.text = "Two."}, {.text = "Three."}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  std::string first = runtime.run({.prompt = "Go.", .system_prompt = "You help."}).run_id;
  runtime.run(
      {.prompt = "On.", .tools = {twice({.rules = {"Be kind."}})}, .fork_of = ForkPoint{first}});
  EXPECT_EQ(model->questions().back().system_prompt, "You help.\n\n- Be kind.");
}

TEST(CallRules, RulesOfAMessagesToolsFollowThePromptOfItsSession) {
  auto model = scripted({{.text = "One."}, {.text = "Two."}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  Session session = runtime.session({.system_prompt = "You help."});
  session.run({.prompt = "Go.", .tools = {twice({.rules = {"Be kind."}})}});
  EXPECT_EQ(model->questions().back().system_prompt, "You help.\n\n- Be kind.");
}

}  // namespace
}  // namespace errand::v1::call_rules_test
