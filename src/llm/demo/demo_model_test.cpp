#include "llm/demo/demo_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "async/task_group.hpp"
#include "base/text.hpp"
#include "json/parse.hpp"
#include "support/run_task.hpp"

namespace errand::llm::demo_model_test {
namespace {

using Lines = std::vector<std::string>;

ToolDecl tool(std::string name, std::string description, std::string_view schema) {
  return {.name = std::move(name),
          .description = std::move(description),
          .input_schema = share_schema(json::parse(schema).value().as_object())};
}

ToolDecl weather() {
  return tool("get_weather", "Current weather of a city.",
              R"({"type":"object","properties":{
                    "city":{"type":"string"},
                    "unit":{"type":"string","enum":["celsius","fahrenheit"]}},
                  "required":["city"]})");
}
ToolDecl calculator() {
  return tool("calculator", "Evaluates an arithmetic expression.",
              R"({"type":"object","properties":{"expression":{"type":"string"}},
                  "required":["expression"]})");
}
ToolDecl clock() {
  return tool("current_time", "The time of day.", R"({"type":"object","properties":{}})");
}

// The tools of `errand run --files`, as it declares them.
std::vector<ToolDecl> file_tools() {
  return {
      tool("read_file",
           "Read a text file of the user's directory. Long files come in parts: offset and limit "
           "choose lines.",
           R"({"type":"object","properties":{
                 "path":{"type":"string","description":"Path relative to the directory"},
                 "offset":{"type":"integer","minimum":1,"description":"First line to read, from 1"},
                 "limit":{"type":"integer","minimum":1,"description":"Number of lines to read"}},
               "required":["path"]})"),
      tool("list_files",
           "List a directory of the user's files: names with their sizes, directories with a "
           "trailing slash.",
           R"({"type":"object","properties":{
                 "path":{"type":"string","description":"Path; all of it if left out"}},
               "required":[]})"),
      tool("search_files",
           "Find the lines that contain a text, in all files below a path. The answer has lines of "
           "the form file:line: text.",
           R"({"type":"object","properties":{
                 "query":{"type":"string","description":"Text to look for, exactly as written"},
                 "path":{"type":"string","description":"File or directory to look in"}},
               "required":["query"]})"),
  };
}

constexpr std::string_view kSelf =
    "I am Errand's demo model: I follow simple rules and need neither key nor network.";

// What the model said in one turn.
struct Said {
  std::string text;
  Lines calls;  // "name {arguments}"
  std::string finish_reason;
  Usage usage;
  std::ptrdiff_t deltas = 0;
};

class DemoModelTest : public testing::Test {
 protected:
  void user(std::string text) {
    messages_.push_back({.role = Role::user, .text = std::move(text)});
  }
  void assistant(std::string text) {
    messages_.push_back({.role = Role::assistant, .text = std::move(text)});
  }

  Said ask() {
    auto stream = model_->ask({.system_prompt = share_text(system_prompt_),
                               .messages = share_messages(messages_),
                               .tools = share_decls(tools_),
                               .output_schema = output_schema_});
    group_.spawn("read", read_all(stream.get()));
    run_ready(io_);
    while (timers_.pending() > 0) {
      timers_.advance(milliseconds(10));
      run_ready(io_);
    }
    run_task(io_, group_.join());
    return std::exchange(said_, {});
  }
  Said ask(std::string prompt) {
    user(std::move(prompt));
    return ask();
  }
  Lines calls_for(std::string prompt) {
    messages_.clear();
    return ask(std::move(prompt)).calls;
  }

  // Asks, lets the tools answer, and asks again.
  struct Outcome {
    bool ok = true;
    std::string text;
  };
  Said ask_and_answer(std::string prompt, const std::vector<Outcome>& outcomes) {
    add_turn(ask(std::move(prompt)), outcomes);
    return ask();
  }
  void add_turn(const Said& said, const std::vector<Outcome>& outcomes) {
    Message turn{.role = Role::assistant, .text = said.text};
    Message results;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      std::size_t space = said.calls.at(i).find(' ');
      std::string id = cat("call_", messages_.size(), "_", i);
      turn.calls.push_back({.provider_id = id,
                            .name = said.calls[i].substr(0, space),
                            .arguments = said.calls[i].substr(space + 1)});
      results.results.push_back({.provider_id = id,
                                 .name = turn.calls.back().name,
                                 .ok = outcomes[i].ok,
                                 .text = outcomes[i].text});
    }
    messages_.push_back(std::move(turn));
    messages_.push_back(std::move(results));
  }

  void take(const TurnEvent& event) {
    if (const auto* delta = std::get_if<TextDelta>(&event)) {
      said_.text += delta->text;
      ++said_.deltas;
    } else if (const auto* call = std::get_if<CallClosed>(&event)) {
      said_.calls.push_back(cat(call->name, " ", call->arguments));
    } else if (const auto* end = std::get_if<Finished>(&event)) {
      said_.finish_reason = end->finish_reason;
      said_.usage = end->usage;
    }
  }
  Task<void> read_all(TurnStream* stream) {
    while (said_.finish_reason.empty()) {
      std::vector<TurnEvent> events = co_await stream->next();
      for (const TurnEvent& event : events) take(event);
    }
  }

  asio::io_context io_{1};
  ManualTimers timers_;
  const std::unique_ptr<Model> model_ = make_demo_model(timers_, io_.get_executor(), nullptr);
  const std::string system_prompt_;
  std::vector<Message> messages_;
  std::vector<ToolDecl> tools_;
  SchemaPtr output_schema_;
  Said said_;
  TaskGroup group_{io_.get_executor(),
                   [](const char*, const std::string& what) { FAIL() << what; }};
};

TEST_F(DemoModelTest, AFileIsReadAndItsFirstLinesAreQuoted) {
  tools_ = file_tools();
  Said first = ask("What is in README.md?");
  EXPECT_EQ(first.text, "Let me ask read_file.\n");
  EXPECT_EQ(first.calls, Lines{R"(read_file {"path":"README.md"})"});
  EXPECT_EQ(first.finish_reason, "tool_use");
  add_turn(first, {{.text = "# Errand\n\nRuns agents.\n"}});
  Said last = ask();
  EXPECT_EQ(last.text, cat("This is what read_file gave for README.md:\n\n"
                           "> # Errand\n>\n> Runs agents.\n\n",
                           kSelf));
  EXPECT_EQ(last.finish_reason, "end_turn");
}

TEST_F(DemoModelTest, AnExpressionGoesToTheCalculator) {
  tools_ = {weather(), calculator()};
  EXPECT_EQ(calls_for("What is 2+3*4?"), Lines{R"(calculator {"expression":"2+3*4"})"});
  EXPECT_EQ(calls_for("Compute (1 + 2) * 3.5, please."),
            Lines{R"(calculator {"expression":"(1 + 2) * 3.5"})"});
  EXPECT_EQ(ask_and_answer("What is 2+3*4?", {{.text = "14"}}).text, cat("2+3*4: 14\n\n", kSelf));
}

TEST_F(DemoModelTest, AQuotedCommandGoesToTheShell) {
  tools_ = {tool("shell", "Run a command of the user's shell.",
                 R"({"type":"object","properties":{
                       "command":{"type":"string","description":"What /bin/sh is to run"},
                       "timeoutSeconds":{"type":"integer"}},"required":["command"]})")};
  EXPECT_EQ(calls_for("Run the command 'ls -l' please"), Lines{R"(shell {"command":"ls -l"})"});
  EXPECT_EQ(calls_for("Execute \"git status\""), Lines{R"(shell {"command":"git status"})"});
}

TEST_F(DemoModelTest, SeveralPlacesAreSeveralCallsOfOneTurn) {
  tools_ = {clock(), weather()};
  EXPECT_EQ(calls_for("Weather in Lagos and Oslo"),
            (Lines{R"(get_weather {"city":"Lagos"})", R"(get_weather {"city":"Oslo"})"}));
  EXPECT_EQ(calls_for("what's the weather in lagos today?"),
            Lines{R"(get_weather {"city":"lagos"})"});
  messages_.clear();
  EXPECT_EQ(ask_and_answer("Weather in Lagos and Oslo", {{.text = "hot"}, {.text = "cold"}}).text,
            cat("Lagos: hot\nOslo: cold\n\n", kSelf));
}

TEST_F(DemoModelTest, AGreetingNeedsNoTool) {
  EXPECT_EQ(ask("Hello").text,
            cat("Hello! ", kSelf, " This run has no tools, and without them I know nothing."));
  tools_ = {weather(), clock()};
  EXPECT_EQ(ask("Hi there!").text, cat("Hello! ", kSelf,
                                       " Ask me for something that my tools can do: get_weather "
                                       "and current_time."));
}

TEST_F(DemoModelTest, AnOutputSchemaIsObeyed) {
  output_schema_ = share_schema(json::parse(R"({"type":"object","properties":{
      "name":{"type":"string"},"age":{"type":"integer","minimum":0},
      "mood":{"enum":["good","bad"]},"due":{"type":"string","format":"date"},
      "tags":{"type":"array","items":{"type":"string"},"minItems":2},
      "level":{"anyOf":[{"type":"integer","maximum":0},{"type":"null"}]},
      "is_member":{"type":"boolean"},"version":{"const":2},
      "homes":{"type":"array","items":{"$ref":"#/$defs/place"}},"nickname":{"type":"string"}},
      "required":["name","age","mood","due","tags","level","is_member","version","homes"],
      "$defs":{"place":{"type":"object","properties":{"zip":{"type":"string","minLength":5}},
                        "required":["zip"]}}})")
                                    .value()
                                    .as_object());
  EXPECT_EQ(ask("Extract: Bob Smith is 42 years old and feels bad.").text,
            R"({"name":"Bob Smith","age":42,"mood":"bad","due":"2000-01-01",)"
            R"("tags":["demo","demo"],"level":0,"is_member":false,"version":2,)"
            R"("homes":[{"zip":"demo."}]})");
}

TEST_F(DemoModelTest, AToolIsAskedBeforeAnOutputSchemaIsFilled) {
  tools_ = {weather()};
  output_schema_ = share_schema(json::parse(R"({"type":"object","properties":{
      "city":{"type":"string"},"degrees":{"type":"number"},"summary":{"type":"string"}},
      "required":["city","degrees","summary"]})")
                                    .value()
                                    .as_object());
  Said last = ask_and_answer("Weather in Lagos", {{.text = "31 degrees"}});
  EXPECT_EQ(
      json::parse(last.text).value(),
      (json::Value{
          {"city", "Lagos"}, {"degrees", 31}, {"summary", cat("Lagos: 31 degrees\n\n", kSelf)}}));
}

TEST_F(DemoModelTest, TheToolsOfErrandRunFitTheirQuestions) {
  tools_ = file_tools();
  const std::vector<std::pair<std::string, Lines>> questions = {
      {"Which files are here?", {"list_files {}"}},
      {"List the files in src/cli", {R"(list_files {"path":"src/cli"})"}},
      {"What is in src/?", {R"(list_files {"path":"src/"})"}},
      {"What's in src?", {R"(list_files {"path":"src"})"}},
      {"Which files are in docs?", {R"(list_files {"path":"docs"})"}},
      {"Search for 'Errand'", {R"(search_files {"query":"Errand"})"}},
      {"Find NOTE in the sources", {R"(search_files {"query":"NOTE"})"}},
      {"Which files mention Errand?", {R"(search_files {"query":"Errand"})"}},
      {"Find \"a b\" in src/run", {R"(search_files {"query":"a b","path":"src/run"})"}},
      {"Compare a.txt and b.txt",
       {R"(read_file {"path":"a.txt"})", R"(read_file {"path":"b.txt"})"}},
      {"Read the Makefile", {R"(read_file {"path":"Makefile"})"}},
      {"Show me the first 20 lines of src/main.cpp",
       {R"(read_file {"path":"src/main.cpp","limit":20})"}},
      {"Read a.txt from line 30", {R"(read_file {"path":"a.txt","offset":30})"}},
      {"What does README.md say about tests?", {R"(read_file {"path":"README.md"})"}},
  };
  for (const auto& [question, calls] : questions) EXPECT_EQ(calls_for(question), calls) << question;
}

TEST_F(DemoModelTest, AFailedCallIsToldAndNotMadeAgain) {
  tools_ = {weather()};
  Said last = ask_and_answer("Weather in Lagos and Atlantis",
                             {{.text = "hot"}, {.ok = false, .text = "no such city"}});
  EXPECT_EQ(last.calls, Lines());
  EXPECT_EQ(last.text,
            cat("Lagos: hot\nSorry, get_weather failed for Atlantis: no such city\n\n", kSelf));
}

TEST_F(DemoModelTest, ATurnThatBrokeOffIsCompleted) {
  tools_ = {weather()};
  Said first = ask("Weather in Lagos and Oslo");
  add_turn(first, {{.text = "hot"}});
  Said second = ask();
  EXPECT_EQ(second.calls, Lines{R"(get_weather {"city":"Oslo"})"});
  add_turn(second, {{.text = "cold"}});
  EXPECT_EQ(ask().text, cat("Lagos: hot\nOslo: cold\n\n", kSelf));
}

TEST_F(DemoModelTest, NestedObjectsEnumsAndListsAreFilled) {
  tools_ = {tool("create_ticket", "Creates a ticket for the support team.",
                 R"({"type":"object","properties":{
                       "title":{"type":"string"},
                       "priority":{"type":"string","enum":["low","high","very_high"]},
                       "reporter":{"type":"object","properties":{
                          "email":{"type":"string","format":"email"},
                          "phone":{"type":"string"}},"required":["email"]},
                       "watchers":{"type":"array","items":{"type":"string","format":"email"}},
                       "due":{"type":"string","format":"date"},
                       "notify":{"type":"boolean"},
                       "link":{"type":"string","format":"uri"},
                       "place":{"type":"object","properties":{"city":{"type":"string"}},
                                "required":["city"]}},
                     "required":["title","priority","reporter"]})")};
  EXPECT_EQ(
      calls_for("Create a ticket 'Disk full' with very high priority for eve@example.com, due "
                "2026-05-01, see https://example.com/d?q=1. Do not notify anybody."),
      Lines{R"(create_ticket {"title":"Disk full","priority":"very_high",)"
            R"("reporter":{"email":"eve@example.com"},"due":"2026-05-01","notify":false,)"
            R"("link":"https://example.com/d?q=1"})"});
}

TEST_F(DemoModelTest, AnEnumWordIsNotMistakenForAPlace) {
  tools_ = {weather()};
  EXPECT_EQ(calls_for("Please say in Fahrenheit how the weather in Oslo is"),
            Lines{R"(get_weather {"city":"Oslo","unit":"fahrenheit"})"});
  EXPECT_EQ(calls_for("Weather in Oslo and New York in Celsius"),
            (Lines{R"(get_weather {"city":"Oslo","unit":"celsius"})",
                   R"(get_weather {"city":"New York","unit":"celsius"})"}));
}

TEST_F(DemoModelTest, NumbersGoWhereTheyAreNamed) {
  tools_ = {tool("roll_dice", "Rolls dice.",
                 R"({"type":"object","properties":{"sides":{"type":"integer"},
                     "count":{"type":"integer"},"weights":{"type":"array",
                     "items":{"type":"number"}}},"required":["sides","count"]})")};
  EXPECT_EQ(calls_for("Roll 2 dice with 6 sides"), Lines{R"(roll_dice {"sides":6,"count":2})"});
}

TEST_F(DemoModelTest, AnIdIsTheValueAfterItsName) {
  tools_ = {tool("get_order", "Looks up an order.",
                 R"({"type":"object","properties":{"order_id":{"type":"string"}},
                     "required":["order_id"]})")};
  EXPECT_EQ(calls_for("What is the status of order ORD-7?"),
            Lines{R"(get_order {"order_id":"ORD-7"})"});
  EXPECT_EQ(calls_for("Show order 42"), Lines{R"(get_order {"order_id":"42"})"});
}

TEST_F(DemoModelTest, AMessageIsWhatIsQuotedOrTheWholeQuestion) {
  tools_ = {tool("send_email", "Sends an e-mail.",
                 R"({"type":"object","properties":{"to":{"type":"string","format":"email"},
                     "body":{"type":"string"}},"required":["to","body"]})")};
  EXPECT_EQ(calls_for("Send an email to bob@example.com: 'See you, Bob.'"),
            Lines{R"(send_email {"to":"bob@example.com","body":"See you, Bob."})"});
  EXPECT_EQ(
      calls_for("Email bob@example.com: I'm late."),
      Lines{R"(send_email {"to":"bob@example.com","body":"Email bob@example.com: I'm late."})"});
}

TEST_F(DemoModelTest, AFollowUpGoesOnWithTheEarlierTool) {
  tools_ = {calculator(), weather()};
  user("Weather in Lagos?");
  assistant("Lagos: hot");
  EXPECT_EQ(ask("and in Oslo?").calls, Lines{R"(get_weather {"city":"Oslo"})"});
  assistant("Oslo: cold");
  EXPECT_EQ(ask("What about Rome and Paris?").calls,
            (Lines{R"(get_weather {"city":"Rome"})", R"(get_weather {"city":"Paris"})"}));
  assistant("Rome: fine");
  EXPECT_EQ(ask("Thanks, Bob").calls, Lines());
  assistant("Hello!");
  EXPECT_EQ(ask("What is 1+1?").calls, Lines{R"(calculator {"expression":"1+1"})"});
}

TEST_F(DemoModelTest, AMissingArgumentIsAskedForAndThenTaken) {
  tools_ = {weather()};
  Said first = ask("How is the weather?");
  EXPECT_EQ(first.calls, Lines());
  EXPECT_EQ(first.text, cat("I would ask get_weather, but you did not say its city. What shall I "
                            "use?\n\n",
                            kSelf));
  assistant(first.text);
  EXPECT_EQ(ask("Oslo").calls, Lines{R"(get_weather {"city":"Oslo"})"});
}

TEST_F(DemoModelTest, AToolWithoutParametersIsCalledWithNothing) {
  tools_ = {weather(), clock()};
  EXPECT_EQ(calls_for("What time is it?"), Lines{"current_time {}"});
}

TEST_F(DemoModelTest, WithoutAFittingToolItSaysSo) {
  tools_ = {weather(), clock()};
  Said said = ask("Tell me a joke about cats");
  EXPECT_EQ(said.calls, Lines());
  EXPECT_EQ(said.text,
            cat("None of my tools fits this. I have get_weather and current_time. ", kSelf));
}

TEST_F(DemoModelTest, LongResultsAreCut) {
  tools_ = file_tools();
  std::string text = std::string(500, 'x') + "\n";
  for (int i = 2; i <= 40; ++i) append(text, "line ", i, "\n");
  std::string said = ask_and_answer("What is in a.txt?", {{.text = text}}).text;
  EXPECT_TRUE(
      said.starts_with(cat("This is what read_file gave for a.txt, the first 20 of 40 "
                           "lines:\n\n> ",
                           std::string(200, 'x'), " ...\n> line 2\n")))
      << said;
  EXPECT_TRUE(said.ends_with(cat("> line 20\n\n", kSelf))) << said;
}

TEST_F(DemoModelTest, WordsAreStreamedOneByOneAndCounted) {
  Said said = ask("Hello");
  EXPECT_EQ(said.deltas, 1 + std::count(said.text.begin(), said.text.end(), ' '));
  EXPECT_EQ(said.usage.input_tokens, 2);
  EXPECT_EQ(said.usage.output_tokens, static_cast<std::int64_t>((said.text.size() + 3) / 4));
}

TEST_F(DemoModelTest, FilesAreNamed) {
  Message question;
  question.text = "Hello";
  question.files = {{.filename = "a.png", .mime_type = "image/png", .size = 12},
                    {.url = "https://a.b/c"}};
  messages_ = {question};
  EXPECT_TRUE(
      ask().text.starts_with("You sent a.png (image/png, 12 bytes) and https://a.b/c.\n\nHello!"));
}

TEST_F(DemoModelTest, EveryTextHasAnAnswer) {
  tools_ = file_tools();
  tools_.push_back(weather());
  tools_.push_back(calculator());
  const std::vector<std::string> parts = {
      "'", "\"", "`",    "“",   "”",    ".",  ",",    ":",       ";",          "(",       ")",
      "/", "-",  "+",    "*",   "12",   " ",  "\n",   "a",       "Z",          "@",       "é",
      "?", "in", "find", "and", "-inf", "of", "read", "weather", "2026-01-02", "http://", "..."};
  std::mt19937 random(7);
  for (int i = 0; i < 100; ++i) {
    std::string prompt;
    for (int k = 0; k < 20; ++k) append(prompt, parts[random() % parts.size()]);
    messages_.clear();
    EXPECT_FALSE(ask(prompt).text.empty()) << prompt;
  }
  for (const std::string& part : parts) {
    std::string prompt;
    while (prompt.size() < 3000) append(prompt, part);
    messages_.clear();
    EXPECT_FALSE(ask(cat(prompt, "x")).text.empty()) << part;
  }
}

TEST_F(DemoModelTest, ASchemaThatRefersToItselfEnds) {
  constexpr std::string_view kEndless = R"({"type":"object","properties":{
      "a":{"$ref":"#/$defs/x"},"d":{"type":"string","minLength":9e300}},"required":["a","d"],
      "$defs":{"x":{"type":"object","properties":{"a":{"$ref":"#/$defs/x"},
        "b":{"$ref":"#/$defs/x"},"c":{"type":"array","minItems":900000000,
        "items":{"$ref":"#/$defs/x"}}},"required":["a","b","c"]}}})";
  tools_ = {tool("walk", "Walks.", kEndless)};
  EXPECT_EQ(ask("walk").calls, Lines());
  output_schema_ = share_schema(json::parse(kEndless).value().as_object());
  EXPECT_TRUE(json::parse(ask("hello").text));
}

}  // namespace
}  // namespace errand::llm::demo_model_test
