// Long work of one run lets others have their turn, and what takes long is done on the pool.
#include <algorithm>
#include <functional>

#include "async/breath.hpp"
#include "engine/flows/test_run.hpp"
#include "run/log/mail.hpp"

namespace errand::engine::testing::breath_test {
namespace {

struct BreathTest : RunTest {
  static std::string calls_of(std::string_view name, int count) {
    std::string calls;
    for (int i = 0; i < count; ++i) {
      append(calls, i > 0 ? "," : "", R"({"name":")", name, R"(","arguments":{"i":)", i, "}}");
    }
    return cat(R"({"turns":[{"toolCalls":[)", calls, R"(]},{"text":["Seen."]}]})");
  }
  // Runs until `done`, and says how many handlers that took. Time passes when nothing else is left
  // to do but for the pool, because commits wait a little for company.
  static int run_on(World& world, const std::function<bool()>& done) {
    constexpr int kRoundsMax = 1000;
    int handlers = 0;
    for (int round = 0; round < kRoundsMax; ++round) {
      if (world.pool) world.pool->finish();
      world.io.restart();
      while (world.io.poll_one() > 0) ++handlers;
      if (done()) return handlers;
      world.timers.advance(milliseconds(5));
    }
    ADD_FAILURE() << "it is not done";
    return handlers;
  }
  int run_to_end(World& world) {
    return run_on(world, [&] { return client.run && status(world) == RunStatus::succeeded; });
  }
  RunStatus status(World& world) {
    return world.result_of(world.engine.get(someone(), *client.run)).value().row.status;
  }

  // The handlers of a run whose model calls a tool that is not there.
  int handlers_of_refusals(int calls) {
    disk = Disk();
    const std::string script = calls_of("nobody", calls);
    World world(disk, script);
    Spec spec;
    spec.prompt = "go";
    auto create = [](World* in, Spec asked, std::optional<RunId>* out) -> Task<void> {
      auto run = co_await in->engine.create(someone(), std::move(asked), {});
      if (run) *out = *run;
    };
    client.run.reset();
    world.tasks.spawn("create", create(&world, spec, &client.run));
    return run_to_end(world);
  }

  // The handlers of a process that takes over a run whose calls were answered meanwhile.
  int handlers_of_answers(int calls, std::size_t bytes) {
    disk = Disk();
    client = {.spec = spec_with_tools({client_tool("look")}), .answers = false};
    const std::string script = calls_of("look", calls);
    {
      World world(disk, script);
      world.tasks.spawn("client", client.go(&world));
      world.settle();
    }
    EXPECT_EQ(client.pending.size(), static_cast<std::size_t>(calls));
    World world(disk, script);
    for (const std::string& call : client.pending) {
      Mail mail{.to = {.workspace = someone().workspace, .run = *client.run},
                .slot = call,
                .kind = MailKind::tool_result,
                .body = to_mail_body(ToolAnswer{.text = std::string(bytes, 'x')})};
      EXPECT_TRUE(world.result_of(world.store.mail(std::move(mail))));
    }
    world.tasks.spawn("recover", world.engine.recover());
    return run_to_end(world);
  }

  // A run of a process that has ended, and whose model has not answered.
  void leave_run(const Spec& spec) {
    disk = Disk();
    World world(disk, R"({"turns":[{"delayMs":60000,"text":["too late"]}]})");
    client.run = world.result_of(world.engine.create(someone(), spec, {})).value();
  }
};

constexpr int kMany = 256;
constexpr int kFew = 8;

TEST_F(BreathTest, RefusedCallsLetOthersRunWhileTheyComeAndWhileTheyAreSettled) {
  const int more = handlers_of_refusals(kMany) - handlers_of_refusals(kFew);
  EXPECT_GE(more, 2 * (kMany - kFew) / 8);
}

TEST_F(BreathTest, LongAnswersThatWaitedForAProcessAreTakenOneByOne) {
  constexpr int kAnswers = 24;
  const int more =
      handlers_of_answers(kAnswers, kBytesInABreath) - handlers_of_answers(kAnswers, 1);
  EXPECT_GE(more, kAnswers - 4);
}

json::Object schema_with_a_pattern() {
  return {{"type", "object"},
          {"properties", {{"i", {{"type", "string"}, {"pattern", "^a$"}}}}},
          {"required", json::Array{"i"}}};
}

TEST_F(BreathTest, AfterARestartTheSchemaOfACallIsCompiledOnThePool) {
  LocalTool tool{.name = "look"};
  tool.parameters = share_schema(schema_with_a_pattern());
  const std::string script = calls_of("look", 1);
  leave_run(spec_with_tools({tool}));
  World world(disk, script, {}, {}, {}, "scripted", WithPool::yes);
  world.tasks.spawn("recover", world.engine.recover());
  world.settle();
  EXPECT_EQ(world.asked, 1);
  EXPECT_EQ(status(world), RunStatus::running);

  run_to_end(world);
  const std::vector<std::string> log = log_of(disk, *client.run);
  EXPECT_TRUE(std::any_of(log.begin(), log.end(), [](const std::string& line) {
    return line.find("tool_input_invalid") != std::string::npos;
  }));
}

constexpr std::string_view kAnswer = R"({"turns":[{"text":["ok"]}]})";

Spec asking(std::size_t bytes) {
  Spec spec;
  spec.prompt = std::string(bytes, 'x');
  return spec;
}

TEST_F(BreathTest, ALongRunIsTakenInOnThePool) {
  World world(disk, kAnswer, {}, {}, {}, "scripted", WithPool::yes);
  EXPECT_TRUE(world.result_of(world.engine.create(someone(), asking(1), {})));
  auto create = [](World* in) -> Task<void> {
    EXPECT_TRUE(co_await in->engine.create(someone(), asking(kBytesInABreath + 1), {}));
  };
  world.tasks.spawn("create", create(&world));
  world.settle();
  EXPECT_EQ(world.asked, 1);

  run_on(world, [&] { return world.asked == 2; });
}

TEST_F(BreathTest, ALongLineOfAJournalIsReadOnThePool) {
  leave_run(asking(kBytesInABreath + 1));
  World world(disk, kAnswer, {}, {}, {}, "scripted", WithPool::yes);
  world.tasks.spawn("recover", world.engine.recover());
  world.settle();
  EXPECT_EQ(world.asked, 0);

  run_on(world, [&] { return world.asked == 1; });
}

TEST_F(BreathTest, AnAnswerIsCheckedOnThePool) {
  constexpr std::string_view kScript =
      R"({"turns":[{"text":["{\"city\":7}"]},{"text":["{\"city\":\"Rome\"}"]}]})";
  Spec spec;
  spec.prompt = "go";
  spec.output_schema = city_schema();
  leave_run(spec);
  World world(disk, kScript, {}, {}, {}, "scripted", WithPool::yes);
  world.tasks.spawn("recover", world.engine.recover());
  world.settle();
  EXPECT_EQ(world.asked, 1);
  EXPECT_EQ(status(world), RunStatus::running);

  run_to_end(world);
  EXPECT_EQ(world.asked, 2);
}

TEST_F(BreathTest, ALongAnswerIsTakenInOnThePool) {
  client = {.spec = spec_with_tools({client_tool("look")}), .answers = false};
  World world(disk, calls_of("look", 1), {}, {}, {}, "scripted", WithPool::yes);
  world.tasks.spawn("client", client.go(&world));
  world.settle();
  ASSERT_EQ(client.pending.size(), 1U);
  auto answer = [](World* in, RunId run, std::string call, bool* is_taken) -> Task<void> {
    const ToolAnswer text{.text = std::string(kBytesInABreath + 1, 'x')};
    auto taken = co_await in->engine.answer(someone(), run, {.tool_use_id = call, .answer = text});
    *is_taken = taken.has_value();
  };
  bool is_taken = false;
  world.tasks.spawn("answer", answer(&world, *client.run, *client.pending.begin(), &is_taken));
  world.settle();
  EXPECT_FALSE(is_taken);

  run_on(world, [&] { return is_taken; });
}

// A turn of two pieces that each fill the log.
std::string long_turn() {
  const std::string piece(agent::RunLog::kPendingBytesMax + 1, 'x');
  return cat(R"({"turns":[{"text":[")", piece, R"(",")", piece, R"("]}]})");
}

TEST_F(BreathTest, ALongChunkOfAnAnswerIsTakenAsFastAsTheStoreTakesIt) {
  World world(disk, long_turn());
  client.run = world.result_of(world.engine.create(someone(), asking(1), {})).value();
  world.fault = [](FaultyStore::Operation op) {
    const bool is_held = op.kind == FaultyStore::Kind::append;
    return is_held ? FaultyStore::Fault::stop_before : FaultyStore::Fault::none;
  };
  world.pass(milliseconds(1000));
  EXPECT_EQ(world.asked, 1);
  const DurationHistogram& answers = world.engine.counters().model_times;
  EXPECT_EQ(answers.buckets, DurationHistogram().buckets) << "it is not whole";
}

TEST_F(BreathTest, TheEndOfALongAnswerIsWrittenOnceTheAnswerIs) {
  World world(disk, long_turn());
  client.run = world.result_of(world.engine.create(someone(), asking(1), {})).value();
  run_to_end(world);
  const StoredRun stored = stored_run(disk, *client.run);
  EXPECT_EQ(stored.segments.back()->events_count, 1);
  EXPECT_LT(stored.segments.back()->journal.size(), 1000U);
}

TEST_F(BreathTest, WhatWasSaidInALongRunIsFreedOnThePool) {
  const std::string text(kBytesInABreath + 1, 'x');
  const std::string script = cat(R"({"turns":[{"text":[")", text,
                                 R"("],"toolCalls":[{"name":"idempotent"}]},{"text":["ok"]}]})");
  World world(disk, script, {}, {}, {}, "scripted", WithPool::yes);
  std::weak_ptr<const Message> said;
  world.refuses = [&said](const llm::TurnRequest& request) {
    if (request.messages.size() > 1) said = request.messages[1];
    return false;
  };
  Spec spec = spec_with_tools({HostTool{.name = "idempotent"}});
  EXPECT_TRUE(world.result_of(world.engine.create(someone(), std::move(spec), {})));
  world.pass(milliseconds(1000));
  EXPECT_EQ(world.asked, 2);
  EXPECT_FALSE(said.expired());

  world.pool->finish();
  world.settle();
  EXPECT_TRUE(said.expired());
}

}  // namespace
}  // namespace errand::engine::testing::breath_test
