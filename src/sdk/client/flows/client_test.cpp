#include <errand/client.hpp>

#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include "sdk/client/flows/test_server.hpp"

namespace errand::v1::client_test {
namespace {

using sdk::TestServer;

struct Word {
  std::string word;
};

Tool echo() {
  return tool("echo", "Echo a word.", [](const Word& args) { return "echo " + args.word; });
}

constexpr std::string_view kTurns = R"({"turns":[
    {"text":["Hm."],"toolCalls":[{"name":"echo","args":{"word":"a"}}],
     "usage":{"inputTokens":10,"outputTokens":2}},
    {"text":["Do","ne."],"usage":{"inputTokens":20,"outputTokens":1}}]})";

// How a test sees an event.
std::string line_of(const Event& event) {
  struct Line {
    std::string operator()(const TextDelta& one) const { return "text " + one.text; }
    std::string operator()(const ThinkingDelta& one) const { return "thinking " + one.text; }
    std::string operator()(const AssistantMessage& one) const { return "message " + one.text; }
    std::string operator()(const ToolCalled& one) const {
      return cat("call ", one.tool, " ", one.arguments.dump(), one.by_client ? " here" : "");
    }
    std::string operator()(const ToolAnswered& one) const {
      return cat("answer ", one.tool, one.ok ? " " : " failed: ", one.text);
    }
    std::string operator()(const ToolProgressed& one) const { return "progress " + one.message; }
    std::string operator()(const LoopDetected&) const { return "loop"; }
    std::string operator()(const ToolBudgetExceeded& one) const { return "budget " + one.tool; }
    std::string operator()(const TurnRestarted&) const { return "restarted"; }
    std::string operator()(const ConnectionLost&) const { return "lost"; }
    std::string operator()(const ConnectionRestored&) const { return "restored"; }
    std::string operator()(const RunEnded& one) const {
      return cat("ended ", to_string(one.reply.status), " ", one.reply.text);
    }
    std::string operator()(const UnknownEvent& one) const {
      return cat("unknown ", one.type, " ", one.fields.dump());
    }
  };
  return std::visit(Line(), event.data);
}

std::vector<std::string> lines_of(RunStream& stream) {
  std::vector<std::string> lines;
  for (const Event& event : stream) lines.push_back(line_of(event));
  return lines;
}

template <class Call>
Error error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::internal, "nothing was thrown"};
}

TEST(Client, ARunAnswersTheCallsOfItsTools) {
  TestServer server(kTurns);
  Client client(server.options());
  Reply reply = client.run({.prompt = "Go.", .tools = {echo()}});
  EXPECT_EQ(reply.text, "Done.");
  EXPECT_EQ(reply.status, RunStatus::succeeded);
  EXPECT_EQ(reply.usage, (Usage{.input_tokens = 30, .output_tokens = 3}));
  EXPECT_EQ(reply.turns, 2);
  EXPECT_EQ(reply.model, "s");
  EXPECT_EQ(client.get(reply.run_id).text, "Done.");
}

TEST(Client, AStreamShowsTypedEvents) {
  TestServer server(kTurns);
  Client client(server.options());
  RunStream stream = client.stream({.prompt = "Go.", .tools = {echo()}});
  EXPECT_EQ(lines_of(stream),
            (std::vector<std::string>{"text Hm.", R"(call echo {"word":"a"} here)", "message Hm.",
                                      "answer echo echo a", "text Do", "text ne.", "message Done.",
                                      "ended succeeded Done."}));
  EXPECT_FALSE(stream.next().has_value());
}

TEST(Client, ReportsOfAToolAreEvents) {
  TestServer server(kTurns);
  Client client(server.options());
  // A report that comes with the answer may be dropped; the run does not wait for reports.
  std::promise<void> heard;
  Tool slow = tool("echo", "", [&](const Word&, ToolContext& context) {
    context.progress("half way", 1, 2);
    heard.get_future().wait();
    return "done";
  });
  std::vector<std::string> reports;
  std::string last;
  for (const Event& event : client.stream({.prompt = "Go.", .tools = {slow}})) {
    last = line_of(event);
    const auto* report = event.as<ToolProgressed>();
    if (!report) continue;
    reports.push_back(cat(report->tool, " ", report->message, " ",
                          static_cast<int>(report->done.value_or(0)), " of ",
                          static_cast<int>(report->total.value_or(0))));
    heard.set_value();
  }
  EXPECT_EQ(reports, (std::vector<std::string>{"echo half way 1 of 2"}));
  EXPECT_EQ(last, "ended succeeded Done.");
}

TEST(Client, AFailedRunIsAnErrorWithItsId) {
  TestServer server(R"({"turns":[{"error":{"status":400,"code":"bad"}}]})");
  Client client(server.options());
  Result<Reply> reply = client.try_run({.prompt = "Go."});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::conflict);
  EXPECT_EQ(reply.error().reason(), "run_failed");
  EXPECT_EQ(client.get(reply.error().run_id()).status, RunStatus::failed);
  EXPECT_THROW(client.run({.prompt = "Go."}), RunError);
}

TEST(Client, AFatalToolEndsTheRun) {
  TestServer server(kTurns);
  Client client(server.options());
  Tool broken = tool("echo", "",
                     [](const Word&) -> std::string { throw FatalToolError("the disk is gone"); });
  Error error = error_of([&] { client.run({.prompt = "Go.", .tools = {broken}}); });
  EXPECT_EQ(error.reason(), "run_failed");
  EXPECT_NE(error.message().find("error_tool_fatal"), std::string_view::npos);
}

struct Report {
  std::string title;
  int pages = 0;
};

TEST(Client, AnAnswerIsReadAsItsType) {
  TestServer server(R"({"turns":[{"text":["{\"title\":\"T\",\"pages\":3}"]}]})");
  Client client(server.options());
  TypedReply<Report> reply = client.run<Report>({.prompt = "Go."});
  EXPECT_EQ(reply.value.title, "T");
  EXPECT_EQ(reply.value.pages, 3);
  EXPECT_TRUE(reply.output_checked);
}

struct Other {
  int title = 0;
};

TEST(Client, AnAnswerThatIsNoneOfItsTypeIsATypedError) {
  TestServer server(R"({"turns":[{"text":["{\"title\":\"T\"}"]}]})");
  Client client(server.options());
  // The schema that was asked for is looser than the type.
  RunOptions options{.prompt = "Go.", .output = OutputSchema{Json::object({{"type", "object"}})}};
  try {
    client.run<Other>(options);
    FAIL() << "nothing was thrown";
  } catch (const OutputError& error) {
    EXPECT_EQ(error.pointer(), "/title");
    EXPECT_EQ(error.text(), R"({"title":"T"})");
    EXPECT_NE(error.run_id(), "");
  }
  Result<TypedReply<Other>> reply = client.try_run<Other>(options);
  EXPECT_EQ(reply.error().reason(), "output_invalid");
}

TEST(Client, NamesAreCheckedBeforeAnythingIsSent) {
  TestServer server(kTurns);
  Client client(server.options());
  Error error = error_of([&] { client.run({.prompt = "Go.", .tools = {echo(), echo()}}); });
  EXPECT_EQ(error.code(), ErrorCode::conflict);
  EXPECT_EQ(error.message(), "two tools are named echo");
  EXPECT_TRUE(client.list().runs.empty());
}

TEST(Client, ARunIsJoinedFromAnotherClient) {
  TestServer server(kTurns);
  Client first(server.options());
  std::string run = first.start({.prompt = "Go.", .tools = {echo()}});
  Client second(server.options());
  RunStream stream = second.attach(run, {.tools = {echo()}});
  EXPECT_EQ(stream.reply().text, "Done.");
  RunStream again = first.attach(run, {.after_seq = 6});
  EXPECT_EQ(lines_of(again), (std::vector<std::string>{"message Done.", "ended succeeded Done."}));
}

TEST(Client, AStreamCancelsItsRun) {
  TestServer server(kTurns);
  Client client(server.options());
  std::promise<void> called;
  Tool slow = tool("echo", "", [&](const Word&, ToolContext& context) {
    called.set_value();
    while (!context.cancelled()) std::this_thread::yield();
    return "late";
  });
  RunStream stream = client.stream({.prompt = "Go.", .tools = {slow}});
  called.get_future().wait();
  stream.cancel();
  Result<Reply> reply = stream.try_reply();
  EXPECT_EQ(reply.error().reason(), "run_cancelled");
  EXPECT_EQ(reply.error().run_id(), stream.run_id());
}

TEST(Client, ARunIsCancelledByItsId) {
  TestServer server(kTurns);
  Client client(server.options());
  std::string run = client.start({.prompt = "Go.", .tools = {echo()}});
  EXPECT_EQ(client.cancel(run), RunStatus::cancelled);
  EXPECT_EQ(client.attach(run).try_reply().error().reason(), "run_cancelled");
  EXPECT_EQ(client.get(run).status, RunStatus::cancelled);
  EXPECT_EQ(error_of([&] { client.cancel("nobody"); }).code(), ErrorCode::not_found);
}

TEST(Client, AForkGoesOnFromTheRunBefore) {
  TestServer server(R"({"turns":[{"text":["One."]},{"text":["Two."]}]})");
  Client client(server.options());
  Reply first = client.run({.prompt = "Go."});
  Reply second = client.run({.prompt = "And?", .fork_of = ForkPoint{first.run_id}});
  EXPECT_EQ(first.text, "One.");
  EXPECT_EQ(second.text, "Two.");
  EXPECT_NE(first.run_id, second.run_id);
}

TEST(Client, ACallIsAnsweredByHand) {
  TestServer server(kTurns);
  Client client(server.options());
  RunStream stream = client.stream({.prompt = "Go.", .tools = {echo()}, .answer_calls = false});
  while (client.get(stream.run_id()).pending_calls.empty()) stream.next();
  PendingCall call = client.get(stream.run_id()).pending_calls.at(0);
  EXPECT_EQ(call.tool, "echo");
  EXPECT_EQ(call.arguments, Json::object({{"word", "a"}}));
  client.answer(stream.run_id(), call.id, ToolResult{{TextContent{"by hand"}}});
  EXPECT_EQ(stream.reply().text, "Done.");
}

TEST(Client, RunsAndModelsAreListed) {
  TestServer server(R"({"turns":[{"text":["Hi."]}]})");
  Client client(server.options());
  Reply reply = client.run({.prompt = "Go.", .metadata = {{"a", "b"}}, .name = "n"});
  RunPage page = client.list({.metadata = {{"a", "b"}}});
  ASSERT_EQ(page.runs.size(), 1U);
  EXPECT_EQ(page.runs[0].id, reply.run_id);
  EXPECT_EQ(page.runs[0].name, "n");
  EXPECT_TRUE(client.list({.status = RunStatus::failed}).runs.empty());
  ModelList models = client.models();
  EXPECT_EQ(models.default_id, "s");
  EXPECT_EQ(models.models.at(0).label, "S");
}

TEST(Client, AnIdempotencyKeyFindsTheRunThatItMade) {
  TestServer server(R"({"turns":[{"text":["Hi."]}]})");
  Client client(server.options());
  Reply first = client.run({.prompt = "Go.", .idempotency_key = "k"});
  Reply second = client.run({.prompt = "Go.", .idempotency_key = "k"});
  EXPECT_EQ(first.run_id, second.run_id);
  Error error = error_of([&] { client.run({.prompt = "Else.", .idempotency_key = "k"}); });
  EXPECT_EQ(error.reason(), "idempotency_conflict");
}

TEST(Client, ManyThreadsShareAClient) {
  TestServer server(kTurns);
  Client client(server.options());
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 5; ++n) {
        if (client.run({.prompt = "Go.", .tools = {echo()}}).text == "Done.") ++done;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 40);
}

TEST(Client, AHandlerMayRunAnAgentItself) {
  TestServer server(kTurns);
  Client client(server.options());
  Tool nested = tool("echo", "", [&](const Word&) {
    return client.run({.prompt = "Inner.", .tools = {echo()}}).text;
  });
  RunStream stream = client.stream({.prompt = "Go.", .tools = {nested}});
  std::vector<std::string> lines = lines_of(stream);
  EXPECT_EQ(lines.at(3), "answer echo Done.");
}

TEST(Client, CallsThatWaitEndWithTheClient) {
  TestServer server(kTurns);
  auto client = std::make_unique<Client>(server.options());
  RunStream stream = client->stream({.prompt = "Go.", .tools = {echo()}, .answer_calls = false});
  std::promise<void> waiting;
  auto end = std::async(std::launch::async, [&] {
    while (!stream.next()->as<AssistantMessage>()) {
    }
    waiting.set_value();
    return stream.try_next().error().code();
  });
  waiting.get_future().wait();
  client.reset();
  EXPECT_EQ(end.get(), ErrorCode::cancelled);
}

TEST(Client, AStreamMayBeDroppedBeforeItsEnd) {
  TestServer server(kTurns);
  Client client(server.options());
  std::string id = client.stream({.prompt = "Go.", .tools = {echo()}}).run_id();
  EXPECT_EQ(client.attach(id, {.tools = {echo()}}).reply().text, "Done.");
}

TEST(Client, ARunThatNobodyWaitsForTellsItsEnd) {
  TestServer server(kTurns);
  Client client(server.options());
  std::promise<std::string> text;
  client.run_async({.prompt = "Go.", .tools = {echo()}},
                   [&](Result<Reply> reply) { text.set_value(reply.value().text); });
  EXPECT_EQ(text.get_future().get(), "Done.");
  std::promise<Error> error;
  client.run_async({}, [&](Result<Reply> reply) { error.set_value(reply.error()); });
  EXPECT_EQ(error.get_future().get().code(), ErrorCode::invalid_argument);
}

TEST(Client, ARunThatNobodyWaitsForEndsWithTheClient) {
  TestServer server(kTurns);
  auto client = std::make_unique<Client>(server.options());
  std::promise<ErrorCode> code;
  client->run_async({.prompt = "Go.", .tools = {echo()}, .answer_calls = false},
                    [&](Result<Reply> reply) { code.set_value(reply.error().code()); });
  client.reset();
  EXPECT_EQ(code.get_future().get(), ErrorCode::cancelled);
}

TEST(Client, AServerThatIsNotThereIsSaidAtOnce) {
  Client client({.server = "http://127.0.0.1:9", .key = "k"});
  Error error = error_of([&] { client.run({.prompt = "Go."}); });
  EXPECT_EQ(error.code(), ErrorCode::unavailable);
  EXPECT_EQ(error.reason(), "unreachable");
}

TEST(Client, AWrongKeyIsSaid) {
  TestServer server(kTurns);
  ClientOptions options = server.options();
  options.key = "mantyx_wrong";
  Client client(options);
  EXPECT_EQ(error_of([&] { client.models(); }).code(), ErrorCode::unauthorized);
}

}  // namespace
}  // namespace errand::v1::client_test
