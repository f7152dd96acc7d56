#include <errand/runtime.hpp>
#include <errand/testing.hpp>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "run/log/journal.hpp"
#include "run/log/run_export.hpp"
#include "sdk/client/flows/test_server.hpp"
#include "sdk/http/http_api.hpp"
#include "support/run_task.hpp"

namespace errand::v1::recorded_run_test {
namespace {

struct Word {
  std::string word;
};

// A run with one call, as a server exports it.
std::string exported() {
  std::vector<JournalEntry> entries{
      CreatedEntry{.spec = {.system_prompt = "You help.", .prompt = "Go."}, .limits = {}},
      TurnEntry{},
      CallEntry{.id = *ToolUseId::parse("tu_1"),
                .provider_id = "c",
                .name = "echo",
                .arguments = R"({"word":"a"})",
                .text = "Hm."},
      TurnEndEntry{.finish_reason = "tool_use", .usage = {.input_tokens = 5}},
      OutcomeEntry{.id = *ToolUseId::parse("tu_1"), .text = "echo a"},
      TurnEntry{.turn = 1},
      TurnEndEntry{.text = "Done.", .finish_reason = "end_turn"},
      TerminalEntry{.status = errand::RunStatus::succeeded, .subtype = "success"}};
  RunExport run{.run = json::Object{{"runId", "run_1"}}};
  for (const JournalEntry& entry : entries) {
    std::string line;
    append_journal_line(line, entry);
    run.journal.push_back(*json::parse(line));
  }
  return write_export(std::move(run), WallTime());
}

TEST(RecordedRun, AnExportedRunIsPlayedAgain) {
  RecordedRun recorded = read_export(exported());
  EXPECT_EQ(recorded.reply.text, "Done.");
  EXPECT_EQ(recorded.options.system_prompt, "You help.");
  recorded.options.tools = {
      tool("echo", "Echo a word.", [](const Word& args) { return "echo " + args.word; })};
  auto model = scripted(recorded.turns);
  Runtime runtime({.models = {{.id = "recorded", .model = model}}});
  Reply reply = runtime.run(recorded.options);
  EXPECT_EQ(reply.text, recorded.reply.text);
  EXPECT_EQ(model->questions().at(0).messages.at(0).text, "Go.");
  EXPECT_EQ(model->questions().at(1).messages.at(2).results.at(0).text, "echo a");
}

TEST(RecordedRun, ItsToolsAnswerAsTheyDid) {
  RecordedRun recorded = read_export(exported());
  EXPECT_EQ(recorded.calls,
            (std::vector<RecordedCall>{
                {.tool = "echo", .arguments = Json::object({{"word", "a"}}), .text = "echo a"}}));
  recorded.options.tools = recorded.tools();
  auto model = scripted(recorded.turns);
  Runtime runtime({.models = {{.id = "recorded", .model = model}}});
  EXPECT_EQ(runtime.run(recorded.options).text, "Done.");
  EXPECT_EQ(model->questions().at(1).messages.at(2).results.at(0).text, "echo a");
  ToolResult other = recorded.tools().at(0).call(Json::object({{"word", "b"}}));
  EXPECT_FALSE(other.ok());
}

TEST(CallRecord, KeepsCallsAndResults) {
  CallRecord record;
  Tool echo = tool("echo", "", [](const Word& args) { return "echo " + args.word; });
  auto model = scripted({{.calls = {{"echo", Json::object({{"word", "a"}})}}}, {.text = "Done."}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  runtime.run(
      {.prompt = "Go.", .toolkits = {record.watch(Toolkit({.name = "k", .tools = {echo}}))}});
  EXPECT_EQ(record.calls(),
            (std::vector<RecordedCall>{
                {.tool = "echo", .arguments = Json::object({{"word", "a"}}), .text = "echo a"}}));
}

TEST(RecordedRun, WhatIsNoExportIsRefused) {
  try {
    read_export("{}");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  }
}

// What `errand runs export` writes of a run of a server.
std::string export_of(const ClientOptions& options, const std::string& run) {
  asio::io_context io(1);
  sdk::HttpApi api({.url = options.server, .workspace = "default", .key = options.key},
                   net::ClientOptions());
  auto shown = run_task(io, api.send({.path = sdk::run_path(run, "")}));
  auto journal = run_task(io, sdk::read_pages(&api, run, "journal", "entries"));
  auto events = run_task(io, sdk::read_pages(&api, run, "events", "events"));
  EXPECT_TRUE(shown && journal && events);
  return write_export({.run = *shown, .journal = *journal, .events = *events}, WallTime());
}

TEST(RecordedRun, ARunOfAServerIsPlayedAgain) {
  sdk::TestServer server(R"({"turns":[
      {"text":["Hm."],"toolCalls":[{"name":"echo","args":{"word":"a"}}]},{"text":["Done."]}]})");
  Client client(server.options());
  Tool echo = tool("echo", "Echo a word.", [](const Word& args) { return "echo " + args.word; });
  LinkContent link{.url = "https://e.org/x.png", .mime_type = "image/png"};
  Reply reply = client.run({.messages = {{.text = "Look.", .attachments = {link}}},
                            .system_prompt = "You help.",
                            .tools = {echo},
                            .tool_budgets = {{{"echo", 2}}},
                            .max_tool_turns = 5});
  RecordedRun recorded = read_export(export_of(server.options(), reply.run_id));
  EXPECT_EQ(recorded.reply.text, "Done.");
  EXPECT_EQ(recorded.options.messages,
            (std::vector<Message>{{.text = "Look.", .attachments = {link}}}));
  EXPECT_EQ(recorded.options.tool_budgets, (std::map<std::string, int>{{"echo", 2}}));
  EXPECT_EQ(recorded.options.max_tool_turns, 5);
  auto model = scripted(recorded.turns);
  Runtime runtime({.models = {{.id = "recorded", .model = model}}});
  recorded.options.tools = recorded.tools();
  EXPECT_EQ(runtime.run(recorded.options).text, "Done.");
  EXPECT_EQ(model->questions().at(1).messages.back().results.at(0).text, "echo a");
}

}  // namespace
}  // namespace errand::v1::recorded_run_test
