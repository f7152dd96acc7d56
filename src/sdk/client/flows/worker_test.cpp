#include <errand/client.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "sdk/client/flows/test_server.hpp"

namespace errand::v1::worker_test {
namespace {

using sdk::TestServer;

struct Word {
  std::string word;
};

constexpr std::string_view kTurns = R"({"turns":[
    {"toolCalls":[{"name":"echo","args":{"word":"a"}},{"name":"echo","args":{"word":"b"}}]},
    {"text":["Done."]}]})";

Toolkit echo_kit(std::function<std::string(const Word&, ToolContext&)> handler) {
  return Toolkit({.name = "kit", .tools = {tool("echo", "Echo a word.", std::move(handler))}});
}

std::string echo(const Word& args, ToolContext&) {
  return "echo " + args.word;
}

TEST(Worker, AnswersTheCallsOfRunsThatOthersAskFor) {
  TestServer server(kTurns);
  Client caller(server.options());
  Client helper(server.options());
  Worker worker = helper.serve(echo_kit(echo));
  Reply reply = caller.run({.prompt = "Go.", .toolkits = {echo_kit(echo)}, .answer_calls = false});
  EXPECT_EQ(reply.text, "Done.");
  worker.stop();
  EXPECT_EQ(worker.answered(), 2U);
}

TEST(Worker, AKeyThatIsRefusedEndsTheWorkAndIsSaid) {
  TestServer server(kTurns);
  ClientOptions options = server.options();
  options.key = "mantyx_wrong";
  Client client(options);
  std::promise<ErrorCode> told;
  Worker worker = client.serve(
      echo_kit(echo), {.on_error = [&](const Error& error) { told.set_value(error.code()); }});
  EXPECT_EQ(told.get_future().get(), ErrorCode::unauthorized);
  EXPECT_EQ(worker.error()->code(), ErrorCode::unauthorized);
}

TEST(Worker, WorkersShareTheCalls) {
  TestServer server(kTurns);
  Client caller(server.options());
  std::atomic<int> handled = 0;
  auto count = [&](const Word& args, ToolContext&) {
    ++handled;
    return args.word;
  };
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<Worker> workers;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<Client>(server.options()));
    workers.push_back(clients.back()->serve(echo_kit(count)));
  }
  constexpr int kRuns = 12;
  std::vector<std::future<std::string>> runs;
  for (int i = 0; i < kRuns; ++i) {
    runs.push_back(std::async(std::launch::async, [&] {
      return caller.run({.prompt = "Go.", .toolkits = {echo_kit(echo)}, .answer_calls = false})
          .text;
    }));
  }
  for (auto& run : runs) EXPECT_EQ(run.get(), "Done.");
  std::size_t answered = 0;
  for (Worker& worker : workers) {
    worker.stop();
    answered += worker.answered();
  }
  EXPECT_EQ(answered, 2U * kRuns);
  EXPECT_EQ(handled, 2 * kRuns);
}

TEST(Worker, KeepsItsClaimWhileTheHandlerRuns) {
  TestServer server(kTurns);
  Client caller(server.options());
  Client slow(server.options());
  std::atomic<int> handled = 0;
  // The claim runs out several times before the handler is done.
  auto wait = [&](const Word& args, ToolContext& context) {
    ++handled;
    auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
    while (std::chrono::steady_clock::now() < end && !context.cancelled()) {
      std::this_thread::yield();
    }
    return args.word;
  };
  WorkerOptions options{.claim = std::chrono::milliseconds(100)};
  Worker first = slow.serve(echo_kit(wait), options);
  Worker second = slow.serve(echo_kit(wait), options);
  caller.run({.prompt = "Go.", .toolkits = {echo_kit(echo)}, .answer_calls = false});
  EXPECT_EQ(handled, 2);
}

TEST(Worker, StopWaitsForTheCallsThatRun) {
  TestServer server(kTurns);
  Client caller(server.options());
  Client helper(server.options());
  std::promise<void> begun;
  std::atomic<bool> is_first = true;
  auto handler = [&](const Word& args, ToolContext&) {
    if (is_first.exchange(false)) begun.set_value();
    return args.word;
  };
  Worker worker = helper.serve(echo_kit(handler));
  auto run = std::async(std::launch::async, [&] {
    return caller.try_run({.prompt = "Go.", .toolkits = {echo_kit(echo)}, .answer_calls = false})
        .has_value();
  });
  begun.get_future().wait();
  worker.stop();
  EXPECT_GE(worker.answered(), 1U);
  Worker rest = helper.serve(echo_kit(echo));
  EXPECT_TRUE(run.get());
}

// Where the error of a worker with these options points to.
std::string place_of_refusal(const Client& client, const Toolkit& toolkit, WorkerOptions options) {
  try {
    Worker worker = client.serve(toolkit, std::move(options));
  } catch (const Error& error) {
    return error.pointer();
  }
  return "";
}

TEST(Worker, OptionsThatCannotWorkAreRefusedAtOnce) {
  TestServer server(kTurns);
  Client client(server.options());
  using std::chrono::milliseconds;
  EXPECT_EQ(place_of_refusal(client, echo_kit(echo), {.claim = milliseconds(0)}), "/claim");
  EXPECT_EQ(place_of_refusal(client, echo_kit(echo), {.claim = std::chrono::hours(25)}), "/claim");
  EXPECT_EQ(place_of_refusal(client, echo_kit(echo), {.calls_max = 0}), "/calls_max");
  EXPECT_EQ(place_of_refusal(client, Toolkit({.name = "kit"}), {}), "/toolkit");
}

TEST(Worker, AHandlerLearnsSoonThatItsRunWasCancelled) {
  TestServer server(kTurns);
  Client caller(server.options());
  Client helper(server.options());
  std::promise<void> begun;
  std::promise<void> cancelled;
  std::atomic<bool> is_first = true;
  auto handler = [&](const Word&, ToolContext& context) {
    bool is_watched = is_first.exchange(false);
    if (is_watched) begun.set_value();
    while (!context.cancelled()) std::this_thread::yield();
    if (is_watched) cancelled.set_value();
    return std::string();
  };
  Worker worker = helper.serve(echo_kit(handler));
  std::string run = caller.start({.prompt = "Go.", .toolkits = {echo_kit(echo)}});
  begun.get_future().wait();
  EXPECT_EQ(caller.cancel(run), RunStatus::cancelled);
  cancelled.get_future().wait();
  worker.stop();
  EXPECT_EQ(worker.answered(), 0U);
}

TEST(Worker, EndsWithItsClient) {
  TestServer server(kTurns);
  auto client = std::make_unique<Client>(server.options());
  Worker worker = client->serve(echo_kit(echo));
  client.reset();
  worker.stop();
  EXPECT_EQ(worker.answered(), 0U);
}

}  // namespace
}  // namespace errand::v1::worker_test
