#include <errand/runtime.hpp>
#include <errand/testing.hpp>
#include <errand/toolkits.hpp>

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <latch>
#include <mutex>
#include <thread>

#include "base/text.hpp"

namespace errand::v1::runtime_test {
namespace {

struct Word {
  std::string word;
};

Tool echo(std::string prefix = "echo ") {
  return tool("echo", "Echo a word.",
              [prefix = std::move(prefix)](const Word& args) { return prefix + args.word; },
              {.idempotent = true});
}

// A model that calls "echo" and repeats its result.
class Parrot final : public Model {
 public:
  void ask(const Question& question, AnswerSink& sink) override {
    if (question.messages.back().results.empty()) {
      sink.call("echo", Json::object({{"word", "a"}}));
      return;
    }
    sink.text(question.messages.back().results.front().text);
  }
};

RuntimeOptions with_parrot() {
  return {.models = {{.id = "parrot", .model = std::make_shared<Parrot>()}}};
}

class DataFolder final {
 public:
  DataFolder() {
    std::string name = testing::TempDir() + "errand-runtime-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~DataFolder() { std::filesystem::remove_all(path_); }
  std::string str() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(Runtime, ARunNeedsNoServer) {
  auto model = scripted({{.text = "Hm.", .calls = {{"echo", Json::object({{"word", "a"}})}}},
                         {.text = "Done.", .usage = {.input_tokens = 7, .output_tokens = 1}}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  Reply reply = runtime.run({.prompt = "Go.", .system_prompt = "You help.", .tools = {echo()}});
  EXPECT_EQ(reply.text, "Done.");
  EXPECT_EQ(reply.model, "s");
  EXPECT_EQ(reply.usage, (Usage{.input_tokens = 7, .output_tokens = 1}));
  std::vector<Question> asked = model->questions();
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[0].system_prompt, "You help.");
  EXPECT_EQ(asked[0].messages.at(0).text, "Go.");
  EXPECT_EQ(asked[0].tools.at(0).name, "echo");
  EXPECT_EQ(asked[1].messages.at(1).calls.at(0).arguments, Json::object({{"word", "a"}}));
  EXPECT_EQ(asked[1].messages.at(2).results.at(0).text, "echo a");
}

TEST(Runtime, TimeMayStandStill) {
  auto model = scripted({{.calls = {{"current_time", Json::object()}}}, {.text = "Done."}});
  Runtime runtime({.models = {{.id = "s", .model = model}},
                   .now = [] { return std::chrono::system_clock::time_point(); }});
  Json time = Json::object({{"kind", "mantyx_plugin"}, {"name", "current_time"}});
  runtime.run({.prompt = "Go.", .server_tools = {time}});
  const std::string text = model->questions().at(1).messages.back().results.at(0).text;
  EXPECT_NE(text.find("1970"), std::string::npos) << text;
}

TEST(Runtime, TimeStandsStillForHandlersAndToolkits) {
  auto model = scripted(
      {{.calls = {{"current_time", Json::object()}, {"year", Json::object()}}}, {.text = "Done."}});
  Runtime runtime({.models = {{.id = "s", .model = model}},
                   .now = [] { return std::chrono::system_clock::time_point(); }});
  Tool year = tool("year", "The year.", [](ToolContext& context) {
    return context.now() == std::chrono::system_clock::time_point() ? "1970" : "another";
  });
  runtime.run({.prompt = "Go.", .tools = {year}, .toolkits = {toolkits::time()}});
  const std::vector<ToolUseResult> results = model->questions().at(1).messages.back().results;
  EXPECT_NE(results.at(0).text.find("1970"), std::string::npos) << results.at(0).text;
  EXPECT_EQ(results.at(1).text, "1970");
}

TEST(Runtime, ItsEventsAreTyped) {
  Runtime runtime(with_parrot());
  std::vector<std::string> seen;
  RunStream stream = runtime.stream({.prompt = "Go.", .tools = {echo()}});
  for (const Event& event : stream) {
    if (const auto* call = event.as<ToolCalled>()) seen.push_back("call " + call->tool);
    if (const auto* answer = event.as<ToolAnswered>()) seen.push_back("answer " + answer->text);
    if (const auto* text = event.as<TextDelta>()) seen.push_back("text " + text->text);
    if (const auto* end = event.as<RunEnded>()) seen.push_back("end " + end->reply.text);
  }
  EXPECT_EQ(seen,
            (std::vector<std::string>{"call echo", "answer echo a", "text echo a", "end echo a"}));
}

TEST(Runtime, ReportsOfAToolAreEvents) {
  Runtime runtime(with_parrot());
  Tool slow = tool("echo", "", [](const Word&, ToolContext& context) {
    context.progress("half way", 1, 2);
    return "done";
  });
  std::vector<std::string> reports;
  RunStream stream = runtime.stream({.prompt = "Go.", .tools = {slow}});
  for (const Event& event : stream) {
    if (const auto* one = event.as<ToolProgressed>()) {
      reports.push_back(cat(one->message, " ", static_cast<int>(*one->done)));
    }
  }
  EXPECT_EQ(reports, (std::vector<std::string>{"half way 1"}));
}

struct Report {
  std::string title;
};

TEST(Runtime, AnAnswerIsReadAsItsType) {
  auto model = scripted({{.text = R"({"title":"T"})"}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  EXPECT_EQ(runtime.run<Report>({.prompt = "Go."}).value.title, "T");
  EXPECT_EQ(model->questions().at(0).output_schema, schema_of<Report>());
}

TEST(Runtime, ToolsOfANameStayApart) {
  Runtime runtime(with_parrot());
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      std::string prefix = cat("thread ", i, " ");
      for (int n = 0; n < 5; ++n) {
        if (runtime.run({.prompt = "Go.", .tools = {echo(prefix)}}).text == prefix + "a") ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 40);
}

TEST(Runtime, CallsOfATurnRunBesideEachOther) {
  std::promise<void> both;
  std::shared_future<void> met = both.get_future().share();
  std::atomic<int> count = 0;
  Tool meet = tool("meet", "", [&] {
    if (++count == 2) both.set_value();
    met.wait();
    return "met";
  });
  Runtime runtime(
      {.models = {
           {.id = "s", .model = scripted({{.calls = {{"meet"}, {"meet"}}}, {.text = "Done."}})}}});
  EXPECT_EQ(runtime.run({.prompt = "Go.", .tools = {meet}}).text, "Done.");
}

// Speaks on only once its call is being worked on.
class Patient final : public Model {
 public:
  explicit Patient(std::shared_future<void> begun) : begun_(std::move(begun)) {}
  void ask(const Question& question, AnswerSink& sink) override {
    if (!question.messages.back().results.empty()) return sink.text("Done.");
    sink.call("note", Json::object());
    begun_.wait();
    sink.text("More.");
  }

 private:
  const std::shared_future<void> begun_;
};

TEST(Runtime, AHandlerBeginsWhileTheModelStillSpeaks) {
  std::promise<void> begun;
  Runtime runtime(
      {.models = {{.id = "p", .model = std::make_shared<Patient>(begun.get_future().share())}}});
  Tool note = tool("note", "", [&] { begun.set_value(); });
  EXPECT_EQ(runtime.run({.prompt = "Go.", .tools = {note}}).text, "Done.");
}

// What handlers do, in the order in which they do it.
class Course final {
 public:
  void add(std::string line) {
    std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }
  std::vector<std::string> lines() const {
    std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

// A tool whose two calls have to meet.
Tool meeting(const std::string& name, Course& course, std::latch& both) {
  return tool(name, "", [name, &course, &both] {
    course.add(name + " begins");
    both.arrive_and_wait();
    course.add(name + " ends");
  });
}

TEST(Runtime, AToolThatIsNotParallelSafeIsABarrier) {
  Course course;
  std::latch earlier(3);  // two calls, and the end of the turn, when all calls are known
  std::latch later(2);
  Tool alone = tool("alone", "",
                    [&] {
                      course.add("alone begins");
                      // Gives the others time to begin.
                      auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
                      while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
                      course.add("alone ends");
                    },
                    {.parallel_safe = false});
  auto model =
      scripted({{.calls = {{"earlier"}, {"earlier"}, {"alone"}, {"alone"}, {"later"}, {"later"}}},
                {.text = "Done."}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  RunStream stream = runtime.stream(
      {.prompt = "Go.",
       .tools = {meeting("earlier", course, earlier), alone, meeting("later", course, later)}});
  while (!stream.next()->as<AssistantMessage>()) {
  }
  earlier.count_down();
  EXPECT_EQ(stream.reply().text, "Done.");
  EXPECT_EQ(course.lines(), (std::vector<std::string>{
                                "earlier begins", "earlier begins", "earlier ends", "earlier ends",
                                "alone begins", "alone ends", "alone begins", "alone ends",
                                "later begins", "later begins", "later ends", "later ends"}));
}

TEST(Runtime, ResultsKeepTheOrderOfTheirCalls) {
  std::promise<void> over;
  Tool first = tool("first", "", [is_over = over.get_future().share()] {
    is_over.wait();
    return "1";
  });
  Tool second = tool("second", "", [] { return "2"; });
  auto model = scripted({{.calls = {{"first"}, {"second"}}}, {.text = "Done."}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  std::vector<std::string> answered;
  for (const Event& event : runtime.stream({.prompt = "Go.", .tools = {first, second}})) {
    const auto* answer = event.as<ToolAnswered>();
    if (!answer) continue;
    answered.push_back(answer->text);
    if (answer->tool == "second") over.set_value();
  }
  EXPECT_EQ(answered, (std::vector<std::string>{"2", "1"}));
  const std::vector<ToolUseResult> results = model->questions().at(1).messages.back().results;
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].text, "1");
  EXPECT_EQ(results[1].text, "2");
}

TEST(Runtime, AFatalToolEndsTheRun) {
  Runtime runtime(with_parrot());
  Tool broken = tool("echo", "",
                     [](const Word&) -> std::string { throw FatalToolError("the disk is gone"); });
  Result<Reply> reply = runtime.try_run({.prompt = "Go.", .tools = {broken}});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().reason(), "run_failed");
  EXPECT_NE(reply.error().message().find("error_tool_fatal"), std::string_view::npos);
}

TEST(Runtime, ARunIsCancelledByItsId) {
  Runtime runtime(with_parrot());
  std::promise<void> called;
  Tool held = tool("echo", "Echo a word.", [&](const Word&, ToolContext& context) {
    called.set_value();
    while (!context.cancelled()) std::this_thread::yield();
    return "cut off";
  });
  std::string run = runtime.start({.prompt = "Go.", .tools = {held}});
  called.get_future().wait();
  EXPECT_EQ(runtime.cancel(run), RunStatus::cancelled);
  EXPECT_EQ(runtime.attach(run).try_reply().error().reason(), "run_cancelled");
}

TEST(Runtime, RunsOfAnEarlierProcessGoOnOnceTheirToolsAreThere) {
  DataFolder data;
  RuntimeOptions options = with_parrot();
  options.data = data.str();
  std::string run;
  {
    Runtime first(options);
    std::promise<void> called;
    Tool held = tool("echo", "Echo a word.",
                     [&](const Word&, ToolContext& context) {
                       called.set_value();
                       while (!context.cancelled()) std::this_thread::yield();
                       return "cut off";
                     },
                     {.idempotent = true});
    run = first.start({.prompt = "Go.", .tools = {held}});
    called.get_future().wait();
  }
  Runtime second(options);
  RunStream stream = second.attach(run);
  while (second.missing_tools().empty()) {
    std::optional<Event> event = stream.next();
    ASSERT_TRUE(event && !event->as<RunEnded>());
    if (const auto* report = event->as<ToolProgressed>()) {
      EXPECT_EQ(report->message, "waits until this program registers the tool echo");
      break;
    }
  }
  EXPECT_EQ(second.missing_tools(), (std::vector<std::string>{"echo"}));
  second.add(echo());
  EXPECT_EQ(stream.reply().text, "echo a");
  EXPECT_TRUE(second.missing_tools().empty());
}

TEST(Runtime, AnEffectIsNotRepeatedAfterARestart) {
  DataFolder data;
  RuntimeOptions options = with_parrot();
  options.data = data.str();
  std::atomic<int> effects = 0;
  std::promise<void> called;
  Tool charge = tool("echo", "", [&](const Word&, ToolContext& context) {
    if (++effects == 1) called.set_value();
    while (!context.cancelled()) std::this_thread::yield();
    return "charged";
  });
  std::string run;
  {
    Runtime first(options);
    run = first.start({.prompt = "Go.", .tools = {charge}});
    called.get_future().wait();
  }
  options.tools = {charge};
  Runtime second(options);
  std::string text = second.attach(run).reply().text;
  EXPECT_TRUE(text.starts_with("A restart cut this call off.")) << text;
  EXPECT_EQ(effects, 1);
}

TEST(Runtime, ADirectoryHasOneRuntime) {
  DataFolder data;
  RuntimeOptions options = with_parrot();
  options.data = data.str();
  Runtime first(options);
  try {
    Runtime second(options);
    FAIL() << "both have it";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::conflict);
  }
}

TEST(Runtime, TwoRuntimesShareAProcess) {
  Runtime first(with_parrot());
  Runtime second(with_parrot());
  EXPECT_EQ(first.run({.prompt = "Go.", .tools = {echo("1 ")}}).text, "1 a");
  EXPECT_EQ(second.run({.prompt = "Go.", .tools = {echo("2 ")}}).text, "2 a");
  EXPECT_EQ(first.list().runs.size(), 1U);
}

TEST(Runtime, TwoRuntimesWithDirectoriesWorkAtOnce) {
  DataFolder folders[2];
  std::latch both(2);
  Tool meet = tool("echo", "", [&](const Word&) {
    both.arrive_and_wait();
    return "met";
  });
  RuntimeOptions options = with_parrot();
  options.data = folders[0].str();
  Runtime one(options);
  options.data = folders[1].str();
  Runtime other(options);
  RunStream first = one.stream({.prompt = "Go.", .tools = {meet}});
  RunStream second = other.stream({.prompt = "Go.", .tools = {meet}});
  EXPECT_EQ(first.reply().text, "met");
  EXPECT_EQ(second.reply().text, "met");
  EXPECT_EQ(one.list().runs.size(), 1U);
  EXPECT_EQ(other.list().runs.size(), 1U);
}

TEST(Runtime, StoredAgentsAreKeptInItsDirectory) {
  DataFolder data;
  auto model = scripted({{.text = "Hello."}});
  RuntimeOptions options{.data = data.str(), .models = {{.id = "s", .model = model}}};
  AgentSpec agent;
  agent.name = "greeter";
  agent.system_prompt = "Be kind.";
  {
    Runtime first(options);
    first.create_agent(agent);
  }
  Runtime second(options);
  EXPECT_EQ(second.run({.prompt = "Hi.", .agent = "greeter"}).text, "Hello.");
  EXPECT_EQ(model->questions().at(0).system_prompt, "Be kind.");
}

TEST(Runtime, AForkGoesOnWithTheToolsThatItIsGiven) {
  Runtime runtime(with_parrot());
  Reply first = runtime.run({.prompt = "Go.", .tools = {echo()}});
  Reply second = runtime.run({.prompt = "Again.",
                              .tools = {echo("other ")},
                              .fork_of = ForkPoint{.run_id = first.run_id}});
  EXPECT_EQ(second.text, "other a");
}

// Says more than its reader has taken.
class Talker final : public Model {
 public:
  void ask(const Question&, AnswerSink& sink) override {
    for (int i = 0; i < 5'000; ++i) sink.text("word ");
  }
};

TEST(Runtime, AReaderThatIsSlowGetsEverything) {
  Runtime runtime({.models = {{.id = "t", .model = std::make_shared<Talker>()}}});
  RunStream stream = runtime.stream({.prompt = "Go."});
  std::string text;
  std::string whole;
  for (const Event& event : stream) {
    if (const auto* delta = event.as<TextDelta>()) text += delta->text;
    if (const auto* end = event.as<RunEnded>()) whole = end->reply.text;
  }
  EXPECT_EQ(text.size(), 25'000U);
  EXPECT_EQ(text, whole);
}

TEST(Runtime, AStreamMayOutliveIt) {
  auto runtime = std::make_unique<Runtime>(with_parrot());
  std::promise<void> called;
  Tool held = tool("echo", "", [&](const Word&, ToolContext& context) {
    called.set_value();
    while (!context.cancelled()) std::this_thread::yield();
  });
  RunStream stream = runtime->stream({.prompt = "Go.", .tools = {held}});
  called.get_future().wait();
  runtime.reset();
  Result<Reply> reply = stream.try_reply();
  EXPECT_EQ(reply.error().code(), ErrorCode::cancelled);
}

}  // namespace
}  // namespace errand::v1::runtime_test
