#include "engine/engine.hpp"

#include <gtest/gtest.h>

#include "engine/flows/test_run.hpp"

namespace errand::engine::testing::engine_test {
namespace {

constexpr std::string_view kPlain = R"({"turns":[
  {"text":["Hel","lo"],"usage":{"inputTokens":3,"outputTokens":2}}]})";
constexpr std::string_view kOneCall = R"({"turns":[
  {"text":["Look."],"toolCalls":[{"name":"look","args":{"at":1}}]},{"text":["Seen."]}]})";

struct Canceller {
  static Task<void> cancel(World* world, RunId run, std::vector<RunStatus>* statuses) {
    auto status = co_await world->engine.cancel(someone(), run);
    if (status) statuses->push_back(*status);
  }
};

struct Answerer {
  static Task<void> answer(World* world, Client* client) {
    auto answered = co_await world->engine.answer(someone(), *client->run,
                                                  {.tool_use_id = *client->pending.begin()});
    EXPECT_TRUE(answered);
  }
};

struct EngineTest : RunTest {};

TEST_F(EngineTest, RunWithoutToolsStreamsAndEnds) {
  World world(disk, kPlain);
  client.spec = spec_with_tools({});
  run(world);
  EXPECT_EQ(types_of(client.seen),
            (Types{"assistant_delta", "assistant_delta", "assistant_message", "result"}));
  EXPECT_EQ(client.seen.back(),
            R"({"seq":4,"type":"result","ok":true,"subtype":"success","text":"Hello",)"
            R"("tokens":{"inputTokens":3,"cachedTokens":0,"reasoningTokens":0,"outputTokens":2},)"
            R"("turns":1,)"
            R"("model":{"id":"scripted","provider":"scripted","vendorModelId":"scripted"}})");
}

TEST_F(EngineTest, RunWithoutToolsWaitsForTheDiskTwice) {
  World world(disk, kPlain);
  client.spec = spec_with_tools({});
  run(world);
  EXPECT_TRUE(client.done);
  EXPECT_EQ(world.engine.counters().durable_waits, 2U);
}

TEST_F(EngineTest, RunWithOneClientToolWaitsForTheDiskAtMostFourTimes) {
  World world(disk, kOneCall);
  client.spec = spec_with_tools({client_tool("look")});
  run(world);
  EXPECT_TRUE(client.done);
  EXPECT_LE(world.engine.counters().durable_waits, 4U);
}

TEST_F(EngineTest, ClientToolIsOfferedAnsweredAndFedBack) {
  World world(disk, kOneCall);
  client.spec = spec_with_tools({client_tool("look")});
  run(world);
  EXPECT_EQ(types_of(client.seen),
            (Types{"assistant_delta", "local_tool_call", "assistant_message",
                   "local_tool_result_in", "assistant_delta", "assistant_message", "result"}));
}

TEST_F(EngineTest, AnswerIsAcceptedOnceThenUnknownThenTerminal) {
  World world(disk, kOneCall);
  client.spec = spec_with_tools({client_tool("look")});
  run(world);
  std::vector<std::string> reasons;
  struct Late {
    static Task<void> answer(World* world, RunId run, std::string id,
                             std::vector<std::string>* out) {
      auto again = co_await world->engine.answer(someone(), run, {.tool_use_id = id});
      out->push_back(again ? "accepted" : again.error().reason());
    }
  };
  world.tasks.spawn("late",
                    Late::answer(&world, *client.run, *client.acknowledged.begin(), &reasons));
  world.settle();
  EXPECT_EQ(reasons, std::vector<std::string>{"run_terminal"});
}

TEST_F(EngineTest, UnknownToolAndBadArgumentsAreToldToTheModelOnly) {
  World world(disk, R"({"turns":[
    {"toolCalls":[{"name":"nope"},{"name":"look","rawArgs":"[1]"},
                  {"name":"look","rawArgs":"{oops"}]},
    {"text":["ok"]}]})");
  client.spec = spec_with_tools({client_tool("look")});
  run(world);
  EXPECT_EQ(types_of(client.seen),
            (Types{"assistant_message", "tool_result", "tool_result", "tool_result",
                   "assistant_delta", "assistant_message", "result"}));
  EXPECT_EQ(world.engine.counters().durable_waits, 2U);
}

json::Object schema_of_days() {
  return json::parse(R"({"type":"object","properties":{"days":{"type":"integer","maximum":14}}})")
      .value()
      .get_object();
}

TEST_F(EngineTest, ArgumentsThatDoNotFitTheSchemaNeverReachTheClient) {
  World world(disk, R"({"turns":[
    {"toolCalls":[{"name":"look","args":{"days":20}},{"name":"look","args":{"days":3}}]},
    {"text":["ok"]}]})");
  client.spec =
      spec_with_tools({LocalTool{.name = "look", .parameters = share_schema(schema_of_days())}});
  run(world);
  EXPECT_EQ(types_of(client.seen),
            (Types{"local_tool_call", "assistant_message", "tool_result", "local_tool_result_in",
                   "assistant_delta", "assistant_message", "result"}));
  EXPECT_NE(client.seen[2].find(R"(tool_input_invalid)"), std::string::npos);
  EXPECT_NE(client.seen[2].find(R"(\"pointer\":\"/days\")"), std::string::npos);
}

TEST_F(EngineTest, SchemaThatCannotBeUsedIsRefusedWithItsPlace) {
  World world(disk, kPlain);
  Spec spec = spec_with_tools(
      {client_tool("fine"),
       LocalTool{.name = "look",
                 .parameters = share_schema({{"type", "object"}, {"required", "days"}})}});
  auto created = world.result_of(world.engine.create(someone(), std::move(spec), {}));
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(created.error().pointer(), "/tools/1/parameters/required");
}

TEST_F(EngineTest, BarrierWaitsForEarlierCallsAndHoldsLaterOnes) {
  World world(disk, R"({"turns":[
    {"toolCalls":[{"name":"look"},{"name":"careless"},{"name":"look"}]},{"text":["ok"]}]})");
  client.spec = spec_with_tools({client_tool("look"), HostTool{"careless"}});
  run(world);
  EXPECT_EQ(types_of(client.seen),
            (Types{"local_tool_call", "assistant_message", "local_tool_result_in", "tool_call",
                   "tool_result", "local_tool_call", "local_tool_result_in", "assistant_delta",
                   "assistant_message", "result"}));
  EXPECT_EQ(disk.careless.begun, 1);
}

TEST_F(EngineTest, CallStartsWhileTheModelStillStreams) {
  World world(disk, R"({"turns":[
    {"deltaDelayMs":100,"toolCalls":[{"name":"idempotent"},{"name":"look"}]},{"text":["ok"]}]})");
  client.spec = spec_with_tools({client_tool("look"), HostTool{"idempotent"}});
  world.tasks.spawn("client", client.go(&world));
  world.run_until([&] { return disk.idempotent.begun > 0; });
  EXPECT_EQ(types_of(client.seen), Types{"tool_call"});
  world.run_until([&] { return client.done; });
  EXPECT_TRUE(client.done);
}

TEST_F(EngineTest, StreamThatBreaksAfterACallFreezesTheTurn) {
  World world(disk, R"({"turns":[
    {"text":["a","b"],"toolCalls":[{"name":"look"},{"name":"look"}],"cutAfter":3},
    {"text":["ok"]}]})");
  client.spec = spec_with_tools({client_tool("look")});
  run(world);
  EXPECT_EQ(types_of(client.seen),
            (Types{"assistant_delta", "assistant_delta", "local_tool_call", "assistant_message",
                   "local_tool_result_in", "assistant_delta", "assistant_message", "result"}));
  EXPECT_NE(client.seen[3].find(R"("text":"ab","turn":0,"finishReason":"interrupted")"),
            std::string::npos);
  EXPECT_EQ(world.asked, 2);
}

TEST_F(EngineTest, StreamThatBreaksBeforeAnyCallIsAskedThreeTimes) {
  World world(disk, R"({"turns":[{"text":["half"],"cutAfter":1}]})");
  client.spec = spec_with_tools({});
  run(world);
  EXPECT_EQ(types_of(client.seen), (Types{"assistant_delta", "turn_restarted", "assistant_delta",
                                          "turn_restarted", "assistant_delta", "error"}));
  EXPECT_EQ(world.asked, 3);
}

TEST_F(EngineTest, ProviderErrorIsRetriedWithPausesAndThenTold) {
  World world(disk, R"({"turns":[{"error":{"status":529,"code":"overloaded_error"}}]})");
  client.spec = spec_with_tools({});
  SteadyTime begin = world.timers.now();
  run(world);
  EXPECT_EQ(types_of(client.seen), Types{"error"});
  EXPECT_NE(client.seen[0].find(R"("errorClass":"overloaded")"), std::string::npos);
  EXPECT_EQ(world.timers.now() - begin, milliseconds(1500));
}

TEST_F(EngineTest, FinalProviderErrorIsNotRetried) {
  World world(disk, R"({"turns":[{"error":{"status":401}}]})");
  client.spec = spec_with_tools({});
  run(world);
  EXPECT_EQ(world.asked, 1);
  EXPECT_NE(client.seen.back().find(R"("errorClass":"auth")"), std::string::npos);
}

TEST_F(EngineTest, TruncatedAnswerIsAnErrorWithItsPartialText) {
  World world(disk, R"({"turns":[{"text":["half"],"finishReason":"max_tokens"}]})");
  client.spec = spec_with_tools({});
  run(world);
  EXPECT_EQ(types_of(client.seen), (Types{"assistant_delta", "assistant_message", "error"}));
  EXPECT_NE(client.seen.back().find(
                R"("errorClass":"truncation","finishReason":"max_tokens","partialText":"half")"),
            std::string::npos);
}

TEST_F(EngineTest, ThinkingIsShownOnlyToThoseWhoAskForIt) {
  constexpr std::string_view kThinks = R"({"turns":[{"thinking":["hm"],"text":["a"]}]})";
  World world(disk, kThinks);
  client.spec = spec_with_tools({});
  run(world);
  EXPECT_EQ(types_of(client.seen), (Types{"assistant_delta", "assistant_message", "result"}));

  Disk other_disk;
  World other(other_disk, kThinks);
  client = Client{.spec = spec_with_tools({})};
  client.spec.reasoning_level = 30;
  run(other);
  EXPECT_EQ(types_of(client.seen),
            (Types{"thinking_delta", "assistant_delta", "assistant_message", "result"}));
}

TEST_F(EngineTest, UnansweredCallEndsTheRunAfterItsTimeout) {
  World world(disk, kOneCall);
  client.spec = spec_with_tools({client_tool("look")});
  client.spec.budgets.local_tool_timeout = milliseconds(700);
  client.answers = false;
  run(world);
  EXPECT_EQ(types_of(client.seen), (Types{"assistant_delta", "local_tool_call", "assistant_message",
                                          "tool_result", "result"}));
  EXPECT_NE(client.seen.back().find(R"("ok":false,"subtype":"error_local_tool_timeout")"),
            std::string::npos);
}

TEST_F(EngineTest, UnansweredCallMayLetTheRunGoOn) {
  World world(disk, kOneCall);
  client.spec = spec_with_tools({client_tool("look")});
  client.spec.budgets.on_local_tool_timeout = OnTimeout::go_on;
  client.answers = false;
  run(world);
  EXPECT_EQ(types_of(client.seen).back(), "result");
  EXPECT_NE(client.seen.back().find(R"("subtype":"success")"), std::string::npos);
}

TEST_F(EngineTest, ToolTurnsAreLimitedAndTheCallsPastTheLimitAreNotMade) {
  World world(disk,
              R"({"turns":[{"toolCalls":[{"name":"look"}]},{"toolCalls":[{"name":"look"}]}]})");
  client.spec = spec_with_tools({client_tool("look")});
  client.spec.budgets.max_tool_turns = 1;
  run(world);
  EXPECT_EQ(types_of(client.seen), (Types{"local_tool_call", "assistant_message",
                                          "local_tool_result_in", "assistant_message", "result"}));
  EXPECT_NE(client.seen.back().find(R"("subtype":"error_max_tool_turns")"), std::string::npos);
}

TEST_F(EngineTest, CancelWhileTheModelStreamsEndsTheRunAtOnce) {
  World world(disk, R"({"turns":[{"delayMs":60000,"text":["late"]}]})");
  client.spec = spec_with_tools({});
  world.tasks.spawn("client", client.go(&world));
  world.settle();
  std::vector<RunStatus> statuses;
  world.tasks.spawn("cancel", Canceller::cancel(&world, *client.run, &statuses));
  world.settle();
  EXPECT_TRUE(client.done);
  EXPECT_EQ(types_of(client.seen), Types{"cancelled"});
  EXPECT_EQ(statuses, std::vector<RunStatus>{RunStatus::cancelled});
}

TEST_F(EngineTest, CancelGivesPendingCallsAShortGrace) {
  World world(disk, kOneCall);
  client.spec = spec_with_tools({client_tool("look")});
  client.answers = false;
  world.tasks.spawn("client", client.go(&world));
  world.run_until([&] { return client.seen.size() == 3; });
  std::vector<RunStatus> statuses;
  world.tasks.spawn("cancel", Canceller::cancel(&world, *client.run, &statuses));
  world.settle();
  EXPECT_FALSE(client.done);
  SteadyTime begin = world.timers.now();
  world.run_until([&] { return client.done; });
  EXPECT_EQ(types_of(client.seen).back(), "cancelled");
  EXPECT_EQ(world.timers.now() - begin, agent::AgentRun::kCancelGrace);
  world.tasks.spawn("cancel", Canceller::cancel(&world, *client.run, &statuses));
  world.settle();
  EXPECT_EQ(statuses, (std::vector<RunStatus>{RunStatus::cancelled, RunStatus::cancelled}));
}

TEST_F(EngineTest, AnswerWithinTheGraceIsTakenAndEndsTheWait) {
  World world(disk, kOneCall);
  client.spec = spec_with_tools({client_tool("look")});
  client.answers = false;
  world.tasks.spawn("client", client.go(&world));
  world.run_until([&] { return client.seen.size() == 3; });
  std::vector<RunStatus> statuses;
  world.tasks.spawn("cancel", Canceller::cancel(&world, *client.run, &statuses));
  world.settle();
  world.tasks.spawn("answer", Answerer::answer(&world, &client));
  world.settle();
  EXPECT_TRUE(client.done);
  EXPECT_EQ(types_of(client.seen).back(), "cancelled");
  EXPECT_EQ(world.asked, 1);
}

TEST_F(EngineTest, CancelCutsOffAToolOfThisProcess) {
  World world(disk, R"({"turns":[{"toolCalls":[{"name":"slow"}]},{"text":["never"]}]})");
  client.spec = spec_with_tools({HostTool{"slow"}});
  world.tasks.spawn("client", client.go(&world));
  world.settle();
  std::vector<RunStatus> statuses;
  world.tasks.spawn("cancel", Canceller::cancel(&world, *client.run, &statuses));
  world.settle();
  EXPECT_EQ(world.slow_tools_ended, 1);
  EXPECT_TRUE(client.done);
  EXPECT_EQ(types_of(client.seen),
            (Types{"tool_call", "assistant_message", "tool_result", "cancelled"}));
}

TEST_F(EngineTest, RunThatTakesTooLongIsEnded) {
  // Each of these would go on for longer than a day.
  for (std::string_view script :
       {R"({"turns":[{"delayMs":3600000,"deltaDelayMs":3600000,"text":["a","b","c","d"]}]})",
        R"({"turns":[{"text":["a"],"toolCalls":[{"name":"look"}]}]})"}) {
    Disk fresh;
    Client other{.spec = spec_with_tools({client_tool("look")}), .answers = false};
    other.spec.budgets.local_tool_timeout = std::chrono::hours(24);
    World world(fresh, script, {}, {.run_time = std::chrono::hours(2)});
    world.tasks.spawn("client", other.go(&world));
    world.run_until([&] { return other.done; });
    ASSERT_TRUE(other.done);
    EXPECT_NE(other.seen.back().find(R"("subtype":"error_max_run_time")"), std::string::npos);
  }
}

TEST_F(EngineTest, FrozenTurnThatTheVendorRefusesIsToldInPlainWords) {
  World world(disk, R"({"turns":[
    {"text":["x"],"toolCalls":[{"name":"look"},{"name":"look"}],"cutAfter":2},
    {"text":["ok"]}]})");
  std::vector<std::string> told;
  world.refuses = [&](const llm::TurnRequest& request) {
    for (const llm::MessagePtr& message : request.messages) {
      if (!message->calls.empty()) return true;
    }
    told.push_back(request.messages.back()->text);
    return false;
  };
  client.spec = spec_with_tools({client_tool("look")});
  run(world);
  EXPECT_EQ(types_of(client.seen).back(), "result");
  EXPECT_EQ(world.asked, 3);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[1].substr(0, told[1].find("answer to")),
            "These tool calls were already made, with these results:\n\nlook {}\nresult: ");
}

TEST_F(EngineTest, RunThatWaitsForItsClientLeavesMemoryAndComesBackForTheAnswer) {
  World world(disk, kOneCall);
  client.spec = spec_with_tools({client_tool("look")});
  client.answers = false;
  world.tasks.spawn("client", client.go(&world));
  world.run_until([&] { return world.engine.count(Place::resting) == 1; });
  EXPECT_EQ(types_of(client.seen),
            (Types{"assistant_delta", "local_tool_call", "assistant_message"}));
  world.settle();
  world.tasks.spawn("answer", Answerer::answer(&world, &client));
  world.run_until([&] { return client.done; });
  EXPECT_EQ(world.engine.count(Place::resting), 0U);
  EXPECT_EQ(types_of(client.seen),
            (Types{"assistant_delta", "local_tool_call", "assistant_message",
                   "local_tool_result_in", "assistant_delta", "assistant_message", "result"}));
  EXPECT_EQ(client.seen, log_of(disk, *client.run));
}

TEST_F(EngineTest, MoreWaitingRunsThanMayStayInMemoryLeaveItAtOnce) {
  World world(disk, kOneCall);
  constexpr std::size_t kOver = 3;
  for (std::size_t i = 0; i < Residency::kWaitingRunsMax + kOver; ++i) {
    ASSERT_TRUE(world.result_of(
        world.engine.create(someone(), spec_with_tools({client_tool("look")}), {})));
  }
  world.pass(Residency::kRestAfter / 2);
  EXPECT_EQ(world.engine.count(Place::resting), kOver);
  world.pass(Residency::kRestAfter);
  EXPECT_EQ(world.engine.count(Place::resting), Residency::kWaitingRunsMax + kOver);
}

TEST_F(EngineTest, RunThatRestsIsCancelledLikeAnyOther) {
  World world(disk, kOneCall);
  client.spec = spec_with_tools({client_tool("look")});
  client.answers = false;
  world.tasks.spawn("client", client.go(&world));
  world.run_until([&] { return world.engine.count(Place::resting) == 1; });
  world.settle();
  std::vector<RunStatus> statuses;
  world.tasks.spawn("cancel", Canceller::cancel(&world, *client.run, &statuses));
  world.run_until([&] { return client.done; });
  EXPECT_EQ(types_of(client.seen).back(), "cancelled");
}

TEST_F(EngineTest, RunThatRestsStillTimesOutWhenItIsDue) {
  World world(disk, kOneCall);
  client.spec = spec_with_tools({client_tool("look")});
  client.spec.budgets.local_tool_timeout = std::chrono::minutes(10);
  client.answers = false;
  SteadyTime begin = world.timers.now();
  run(world);
  EXPECT_NE(client.seen.back().find("error_local_tool_timeout"), std::string::npos);
  EXPECT_EQ(world.timers.now() - begin, std::chrono::minutes(10));
}

TEST_F(EngineTest, FailedAppendsAreForgottenAndTheRunIsFoldedAgain) {
  using Fault = FaultyStore::Fault;
  for (Fault kind : {Fault::fail_before, Fault::fail_after}) {
    for (std::uint64_t n = 2; n < 9; ++n) {
      Disk fresh;
      Client other;
      other.spec = spec_with_tools({client_tool("look")});
      World world(fresh, kOneCall);
      world.fault = [&](FaultyStore::Operation op) {
        return op.kind == FaultyStore::Kind::append && op.number == n ? kind : Fault::none;
      };
      world.tasks.spawn("client", other.go(&world));
      world.run_until([&] { return other.done; });
      EXPECT_TRUE(other.done) << "append " << n;
      EXPECT_EQ(other.seen, log_of(fresh, *other.run)) << "append " << n;
      EXPECT_EQ(types_of(other.seen).back(), "result");
    }
  }
}

TEST_F(EngineTest, ReaderThatFallsBehindCatchesUpFromTheStore) {
  std::string script = R"({"turns":[{"deltaDelayMs":5,"text":[)";
  std::string piece(100'000, 'x');
  for (int i = 0; i < 12; ++i) append(script, i ? "," : "", "\"", piece, i, "\"");
  World world(disk, script + "]}]}");
  client.spec = spec_with_tools({});
  world.tasks.spawn("client", client.go(&world));
  world.settle();

  // A second reader that takes nothing until the run is over.
  std::unique_ptr<Subscription> slow;
  struct Subscriber {
    static Task<void> open(World* world, RunId run, std::unique_ptr<Subscription>* out) {
      auto reader = co_await world->engine.subscribe(someone(), run, 0);
      *out = std::move(*reader);
    }
    static Task<void> drain(Subscription* reader, std::vector<std::string>* out, bool* ended) {
      while (!*ended) {
        auto batch = co_await reader->next(SteadyTime::max());
        for (std::string& line : lines_of(batch.segments, batch.after))
          out->push_back(std::move(line));
        *ended = batch.state == Subscription::Batch::State::ended;
      }
    }
  };
  world.tasks.spawn("slow", Subscriber::open(&world, *client.run, &slow));
  world.run_until([&] { return client.done; });
  std::vector<std::string> lines;
  bool ended = false;
  world.tasks.spawn("drain", Subscriber::drain(slow.get(), &lines, &ended));
  world.settle();
  EXPECT_TRUE(ended);
  EXPECT_EQ(lines, client.seen);
  EXPECT_EQ(lines.size(), 14U);
}

TEST_F(EngineTest, ReadersWaitForTheStoreWhenTheyHoldTooMuchTogether) {
  World world(disk, kPlain, {}, {.reader_bytes_max = 1});
  client.spec = spec_with_tools({});
  world.tasks.spawn("client", client.go(&world));
  world.run_until([this] { return client.run.has_value(); });
  auto slow = world.result_of(world.engine.subscribe(someone(), *client.run, 0)).value();
  world.run_until([this] { return client.done; });
  EXPECT_EQ(slow->budget().used(), 0U);

  std::vector<std::string> lines;
  for (bool ended = false; !ended;) {
    auto batch = world.result_of(slow->next(SteadyTime::max()));
    for (std::string& line : lines_of(batch.segments, batch.after)) lines.push_back(line);
    ended = batch.state == Subscription::Batch::State::ended;
  }
  EXPECT_EQ(lines, client.seen);
}

TEST_F(EngineTest, DrainingRefusesNewRuns) {
  World world(disk, kPlain);
  world.engine.drain();
  std::string reason;
  struct Creator {
    static Task<void> create(World* world, std::string* out) {
      auto created = co_await world->engine.create(someone(), spec_with_tools({}), {});
      *out = created ? "created" : created.error().reason();
    }
  };
  world.tasks.spawn("create", Creator::create(&world, &reason));
  world.settle();
  EXPECT_EQ(reason, "draining");
}

}  // namespace
}  // namespace errand::engine::testing::engine_test
