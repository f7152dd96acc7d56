// What stops, kills, store trouble and clocks do to runs.
// Long because all of it is about the same few runs and their processes.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/flows/test_world.hpp"

namespace errand::engine::testing::restart_test {
namespace {

constexpr std::string_view kSlow = R"({"turns":[{"delayMs":60000,"text":["at last"]}]})";
constexpr std::string_view kTalk = R"({"turns":[{"text":["one ","two ","three"]}]})";
constexpr std::string_view kOneCall = R"({"turns":[
  {"toolCalls":[{"name":"look"}]},{"text":["Seen."]}]})";

using Prompts = std::vector<std::string>;
using Lines = std::vector<std::string>;

// The lines of a log about the runs of the last process, without their times.
Lines told_of_last_process(std::string_view log) {
  Lines told;
  while (!log.empty()) {
    std::string_view line = take_line(log);
    line.remove_prefix(std::min(line.size(), line.find("info ")));
    if (line.find("of the last process") != std::string_view::npos) told.emplace_back(line);
  }
  return told;
}

struct RestartTest : ::testing::Test {
  Disk disk;

  void pass(World& world, milliseconds duration) { testing::pass(disk, {&world}, duration); }
  static Spec about(std::string prompt) {
    Spec spec;
    spec.prompt = std::move(prompt);
    return spec;
  }
  RunId create(World& world, std::string prompt) {
    return world.result_of(world.engine.create(someone(), about(std::move(prompt)), {})).value();
  }
  static void recover(World& world) {
    world.tasks.spawn("recover", world.engine.recover());
    world.settle();
  }
  RunStatus status(World& world, const RunId& run) {
    return world.result_of(world.engine.get(someone(), run)).value().row.status;
  }
  std::string last_event(const RunId& run) {
    std::vector<std::string> log = log_of(disk, run);
    return log.empty() ? "" : log.back();
  }
  RunStatus cancel(World& world, const RunId& run) {
    return world.result_of(world.engine.cancel(someone(), run)).value();
  }
};

TEST_F(RestartTest, StopsCountNothing) {
  RunId run;
  for (int i = 0; i < 6; ++i) {
    World world(disk, kSlow);
    world.is_killed = false;
    recover(world);
    if (i == 0) run = create(world, "slow");
    pass(world, seconds(5));
    EXPECT_EQ(world.asked, 1) << i;
    EXPECT_EQ(world.engine.count(Place::suspect), 0U) << i;
  }
  World world(disk, kSlow);
  recover(world);
  pass(world, seconds(61));

  EXPECT_EQ(status(world, run), RunStatus::succeeded);
}

TEST_F(RestartTest, ManyStopsMakeNoPauseBetweenAttemptsLong) {
  constexpr int kStops = 40;
  RunId run;
  for (int i = 0; i < kStops; ++i) {
    World world(disk, kSlow);
    world.is_killed = false;
    world.mechanism = OutputMechanism::native;
    recover(world);
    Spec spec = about("slow");
    spec.output_schema = city_schema();
    if (i == 0) run = world.result_of(world.engine.create(someone(), spec, {})).value();
    pass(world, seconds(1));
  }
  World world(disk, R"({"turns":[{"text":["{\"city\":\"Rome\"}"]}]})");
  world.refuses = [](const llm::TurnRequest& request) { return request.output_schema != nullptr; };
  recover(world);
  pass(world, seconds(5));

  EXPECT_EQ(world.asked, 2);
  EXPECT_EQ(status(world, run), RunStatus::succeeded);
}

// Two runs are taken over together, and a third is created by the process that is killed.
TEST_F(RestartTest, AKillCountsOnlyAgainstRunsThatHadJustBeenResumed) {
  {
    World world(disk, kSlow);
    create(world, "resumed 1");
    create(world, "resumed 2");
  }
  {
    World world(disk, kSlow);
    recover(world);
    EXPECT_EQ(world.asked, 2);
    create(world, "new");
  }
  World world(disk, kSlow);
  recover(world);

  EXPECT_EQ(world.asked_about, (Prompts{"new"}));
  EXPECT_EQ(world.engine.count(Place::suspect), 2U);
  pass(world, Residency::kTrialTime);
  EXPECT_EQ(world.asked_about, (Prompts{"new", "resumed 1"}));
  pass(world, Residency::kTrialTime);
  EXPECT_EQ(world.asked_about, (Prompts{"new", "resumed 1", "resumed 2"}));
}

TEST_F(RestartTest, ManySlowRunsGoOnWithinSecondsOfAKill) {
  constexpr int kRuns = 1000;
  {
    World world(disk, kSlow);
    for (int i = 0; i < kRuns; ++i) create(world, "slow");
  }
  {
    World world(disk, kSlow);
    recover(world);
    world.run_until([&world] { return world.asked == kRuns; });
  }
  World world(disk, kSlow);
  const SteadyTime start = world.timers.now();
  recover(world);
  world.run_until([&world] { return world.asked == kRuns; });

  EXPECT_EQ(world.asked, kRuns);
  EXPECT_LE(world.timers.now() - start, 2 * Residency::kTrialTime);
}

// A new run in a workspace that is looked at first goes on while the suspects are still claimed.
TEST_F(RestartTest, SuspectsAreWrittenDownPageByPage) {
  constexpr int kRuns = 200;
  constexpr int kPages = 4;  // of 64 runs each
  {
    World world(disk, kSlow);
    for (int i = 0; i < kRuns; ++i) create(world, "slow");
  }
  {
    World world(disk, kSlow);
    recover(world);
    world.run_until([&world] { return world.asked == kRuns; });
    Principal first{.workspace = *WorkspaceSlug::parse("aaa"), .key = *KeyId::parse("key_1")};
    EXPECT_TRUE(world.result_of(world.engine.create(first, about("innocent"), {})));
  }
  World world(disk, kSlow);
  int writes = 0;
  world.fault = [&writes](FaultyStore::Operation op) {
    if (op.kind == FaultyStore::Kind::change_records) ++writes;
    return FaultyStore::Fault::none;
  };
  recover(world);

  EXPECT_EQ(world.asked_about, (Prompts{"innocent"}));
  EXPECT_EQ(world.engine.count(Place::suspect), std::size_t{kRuns});
  EXPECT_EQ(writes, kPages);
}

TEST_F(RestartTest, TheBacklogIsEveryRunThatIsNotTakenOverYet) {
  constexpr std::size_t kRuns = 200;
  {
    World world(disk, kSlow);
    for (std::size_t i = 0; i < kRuns; ++i) create(world, "slow");
  }
  World world(disk, kSlow);
  world.tasks.spawn("recover", world.engine.recover());
  std::vector<std::size_t> told;
  while (!world.engine.is_recovered()) {
    world.step(1);
    const std::size_t left = world.engine.backlog();
    if (left > 0 && (told.empty() || told.back() != left)) told.push_back(left);
    if (world.io.poll_one() == 0) world.pass(milliseconds(1));
  }

  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.front(), kRuns);
  EXPECT_TRUE(std::is_sorted(told.rbegin(), told.rend()));
  EXPECT_EQ(world.engine.backlog(), 0U);
}

TEST_F(RestartTest, TheLogTellsTheBacklogAgainIfItTakesLong) {
  constexpr int kRuns = 150;
  {
    World world(disk, kSlow);
    for (int i = 0; i < kRuns; ++i) create(world, "slow");
  }
  World world(disk, kSlow);
  int claims = 0;
  world.fault = [&claims](FaultyStore::Operation op) {
    const bool is_second = op.kind == FaultyStore::Kind::claim && ++claims == 2;
    return is_second ? FaultyStore::Fault::fail_before : FaultyStore::Fault::none;
  };
  ::testing::internal::CaptureStderr();
  recover(world);
  world.pass(Residency::kBacklogTold);
  ASSERT_TRUE(world.engine.is_recovered());

  EXPECT_EQ(told_of_last_process(::testing::internal::GetCapturedStderr()),
            (Lines{"info taking over runs of the last process runs=\"150\"",
                   "info still taking over runs of the last process left=\"86\"",
                   "info took over runs of the last process goOn=\"150\" heldBack=\"0\" "
                   "waitForClients=\"0\""}));
}

TEST_F(RestartTest, ACancelEndsARunInAProcessThatTakesOverNoOthers) {
  RunId run;
  RunId other;
  {
    World world(disk, kSlow);
    other = create(world, "first");
    run = create(world, "second");
  }
  World world(disk, kSlow);

  EXPECT_EQ(cancel(world, run), RunStatus::cancelled);
  world.settle();

  EXPECT_EQ(status(world, run), RunStatus::cancelled);
  EXPECT_EQ(status(world, other), RunStatus::running);
  EXPECT_EQ(world.asked_about, Prompts());
}

TEST_F(RestartTest, ACancelReachesASuspectAtOnce) {
  RunId run;
  {
    World world(disk, kSlow);
    create(world, "first");
    run = create(world, "second");
  }
  {
    World world(disk, kSlow);
    recover(world);
  }
  World world(disk, kSlow);
  recover(world);
  ASSERT_EQ(world.engine.count(Place::suspect), 1U);

  EXPECT_EQ(cancel(world, run), RunStatus::cancelled);

  EXPECT_EQ(status(world, run), RunStatus::cancelled);
  EXPECT_EQ(world.asked_about, (Prompts{"first"}));
}

TEST_F(RestartTest, ACancelThatComesWhileASuspectIsTakenOverReachesItAtOnce) {
  constexpr int kStepsMax = 60;
  for (int steps = 0; steps < kStepsMax; ++steps) {
    SCOPED_TRACE(steps);
    disk = Disk();
    RunId run;
    {
      World world(disk, kSlow);
      create(world, "first");
      run = create(world, "second");
    }
    {
      World world(disk, kSlow);
      recover(world);
    }
    World world(disk, kSlow);
    world.tasks.spawn("recover", world.engine.recover());
    world.step(steps);

    EXPECT_EQ(cancel(world, run), RunStatus::cancelled);
    EXPECT_EQ(status(world, run), RunStatus::cancelled);
  }
}

TEST_F(RestartTest, ARunThatIsGivenUpIsNotTriedAgainWhenItsReadFails) {
  RunId run;
  {
    World world(disk, kSlow);
    run = create(world, "slow");
  }
  for (int kills = 0; kills < agent::kStrikesMax; ++kills) {
    World world(disk, kSlow);
    recover(world);
    EXPECT_EQ(world.asked, 1) << kills;
  }
  World world(disk, kSlow);
  int failures = 0;
  world.fault = [&](FaultyStore::Operation op) {
    bool fails = op.kind == FaultyStore::Kind::read && failures < 3 &&
                 world.engine.count(Place::loading) > 0;
    if (fails) ++failures;
    return fails ? FaultyStore::Fault::fail_before : FaultyStore::Fault::none;
  };
  recover(world);
  pass(world, seconds(5));

  EXPECT_EQ(failures, 3);
  EXPECT_EQ(world.asked, 0);
  EXPECT_EQ(status(world, run), RunStatus::failed);
}

TEST_F(RestartTest, ACancelThatSaysCancelledIsOne) {
  constexpr int kStepsMax = 120;
  int succeeded = 0;
  for (int steps = 0; steps < kStepsMax; ++steps) {
    SCOPED_TRACE(steps);
    disk = Disk();
    World world(disk, kTalk);
    struct Cancel {
      static Task<void> after_create(World* world, RunId* run, bool* is_created) {
        auto made = co_await world->engine.create(someone(), about("talk"), {});
        *run = made.value();
        *is_created = true;
      }
    };
    RunId run;
    bool is_created = false;
    world.tasks.spawn("create", Cancel::after_create(&world, &run, &is_created));
    while (!is_created) world.step(1);
    world.step(steps);
    RunStatus told = cancel(world, run);
    pass(world, seconds(5));

    EXPECT_EQ(status(world, run), told);
    EXPECT_EQ(findings_of(disk), Prompts());
    if (told == RunStatus::succeeded) ++succeeded;
  }
  EXPECT_GT(succeeded, 0);
}

TEST_F(RestartTest, StoreTroubleNeitherAsksTheModelAgainNorCountsAsACrash) {
  World world(disk, kTalk);
  int failures = 0;
  world.fault = [&failures](FaultyStore::Operation op) {
    bool fails = op.kind == FaultyStore::Kind::append && failures < 8;
    if (fails) ++failures;
    return fails ? FaultyStore::Fault::fail_before : FaultyStore::Fault::none;
  };
  RunId run = create(world, "talk");
  pass(world, seconds(60));

  EXPECT_EQ(failures, 8);
  EXPECT_EQ(world.asked, 1);
  EXPECT_EQ(status(world, run), RunStatus::succeeded);
  EXPECT_EQ(findings_of(disk), Prompts());
}

// Else a store that comes back would be asked by all of them at the same moments.
TEST_F(RestartTest, RunsThatTheStoreRefusedTogetherComeBackAtMomentsOfTheirOwn) {
  constexpr std::size_t kRuns = 20;
  World world(disk, kTalk);
  std::set<SteadyTime> moments;
  const SteadyTime back = world.timers.now() + seconds(1);
  world.fault = [&](FaultyStore::Operation op) {
    if (op.kind != FaultyStore::Kind::append) return FaultyStore::Fault::none;
    moments.insert(world.timers.now());
    return world.timers.now() < back ? FaultyStore::Fault::fail_before : FaultyStore::Fault::none;
  };
  std::vector<RunId> runs;
  for (std::size_t i = 0; i < kRuns; ++i) runs.push_back(create(world, cat("talk ", i)));
  world.run_until([&] { return world.timers.now() > back + seconds(10); });

  EXPECT_GT(moments.size(), 2 * kRuns) << "they have few moments in common";
  for (const RunId& run : runs) EXPECT_EQ(status(world, run), RunStatus::succeeded);
}

TEST_F(RestartTest, WhileTheStoreTakesNothingTheModelIsNotRead) {
  constexpr int kPieces = 40;
  const std::string piece = cat("\"", std::string(kSegmentBytesMax, 'x'), "\"");
  std::string script = R"({"turns":[{"deltaDelayMs":1,"text":[)";
  for (int i = 0; i < kPieces; ++i) append(script, i == 0 ? "" : ",", piece);
  script += "]}]}";
  World world(disk, script);
  bool is_down = true;
  world.fault = [&is_down](FaultyStore::Operation op) {
    bool fails = op.kind == FaultyStore::Kind::append && is_down;
    return fails ? FaultyStore::Fault::fail_before : FaultyStore::Fault::none;
  };
  RunId run = create(world, "talk");
  pass(world, seconds(30));
  EXPECT_GE(world.reads, 1);
  EXPECT_LE(world.reads, 8);

  is_down = false;
  pass(world, seconds(60));
  EXPECT_EQ(world.asked, 1);
  EXPECT_EQ(status(world, run), RunStatus::succeeded);
  EXPECT_GT(last_event(run).size(), kPieces * kSegmentBytesMax);
  EXPECT_EQ(findings_of(disk), Prompts());
}

TEST_F(RestartTest, ALostOutcomeOfAnAppendIsReadBack) {
  World world(disk, kTalk);
  world.fault = [](FaultyStore::Operation op) {
    return op.kind == FaultyStore::Kind::append ? FaultyStore::Fault::fail_after
                                                : FaultyStore::Fault::none;
  };
  RunId run = create(world, "talk");
  pass(world, seconds(60));

  EXPECT_EQ(world.asked, 1);
  EXPECT_EQ(status(world, run), RunStatus::succeeded);
  EXPECT_EQ(findings_of(disk), Prompts());
}

TEST_F(RestartTest, ALostOutcomeOfACreateIsReadBack) {
  World world(disk, kTalk);
  world.fault = [](FaultyStore::Operation op) {
    return op.kind == FaultyStore::Kind::create ? FaultyStore::Fault::fail_after
                                                : FaultyStore::Fault::none;
  };
  RunId run = create(world, "talk");
  pass(world, seconds(1));

  EXPECT_EQ(status(world, run), RunStatus::succeeded);
}

TEST_F(RestartTest, ARunWhoseReadFailedInTakeOverGoesOnLater) {
  RunId run;
  {
    World world(disk, kSlow);
    run = create(world, "slow");
  }
  World world(disk, kTalk);
  int failures = 0;
  world.fault = [&failures](FaultyStore::Operation op) {
    bool fails = op.kind == FaultyStore::Kind::read && failures++ < 3;
    return fails ? FaultyStore::Fault::fail_before : FaultyStore::Fault::none;
  };
  recover(world);
  pass(world, seconds(5));

  EXPECT_EQ(status(world, run), RunStatus::succeeded);
}

// The store gives the journal of the first run only a moment later.
TEST_F(RestartTest, ASuspectWhoseJournalIsReadLateIsHeldBackAllTheSame) {
  {
    World world(disk, kSlow);
    create(world, "first");
    create(world, "second");
  }
  {
    World world(disk, kSlow);
    recover(world);
    EXPECT_EQ(world.asked, 2);
  }
  World world(disk, kSlow);
  int failures = 0;
  world.fault = [&failures](FaultyStore::Operation op) {
    bool fails = op.kind == FaultyStore::Kind::read && failures++ == 0;
    return fails ? FaultyStore::Fault::fail_before : FaultyStore::Fault::none;
  };
  recover(world);
  EXPECT_EQ(world.engine.count(Place::claimed), 1U);
  pass(world, seconds(1));

  EXPECT_EQ(world.asked_about, (Prompts{"first"}));
  EXPECT_EQ(world.engine.count(Place::suspect), 1U);
}

TEST_F(RestartTest, AllRunsAreClaimedAtOnceAndGoOnAFewAtATime) {
  constexpr int kRuns = 1000;
  RunId last;
  {
    World world(disk, kSlow);
    for (int i = 0; i < kRuns; ++i) last = create(world, "slow");
  }
  World world(disk, kSlow);
  const SteadyTime start = world.timers.now();
  recover(world);
  EXPECT_TRUE(world.engine.is_recovered());
  EXPECT_EQ(world.asked, 100);
  EXPECT_EQ(cancel(world, last), RunStatus::cancelled);
  EXPECT_EQ(status(world, last), RunStatus::cancelled);
  world.run_until([&world] { return world.asked == 600; });
  EXPECT_EQ(world.timers.now() - start, milliseconds(250));
  EXPECT_EQ(world.engine.count(Place::queued), 399U);
  world.run_until([&world] { return world.asked == kRuns - 1; });

  EXPECT_LE(world.timers.now() - start, milliseconds(500));
  EXPECT_EQ(world.asked, kRuns - 1);
}

TEST_F(RestartTest, RunsThatCannotBeReadComeBackAtMomentsOfTheirOwn) {
  constexpr int kRuns = 50;
  {
    World world(disk, kSlow);
    for (int i = 0; i < kRuns; ++i) create(world, "slow");
  }
  World world(disk, kSlow);
  std::map<SteadyTime, int> reads;
  world.fault = [&](FaultyStore::Operation op) {
    const bool fails =
        op.kind == FaultyStore::Kind::read && world.timers.now() < SteadyTime() + seconds(1);
    if (fails) ++reads[world.timers.now()];
    return fails ? FaultyStore::Fault::fail_before : FaultyStore::Fault::none;
  };
  recover(world);
  EXPECT_EQ(reads.size(), 1U);
  world.run_until([&world] { return world.asked == kRuns; });

  EXPECT_GT(reads.size(), static_cast<std::size_t>(kRuns));
  EXPECT_EQ(world.asked, kRuns);
}

// The tools promise in different ways that a call can be made again.
struct DeadlyToolTest : RestartTest, ::testing::WithParamInterface<ToolAnnotations> {};

TEST_P(DeadlyToolTest, ACallThatBringsTheProcessDownIsNotMadeWithoutEnd) {
  constexpr std::string_view kDeadly =
      R"({"turns":[{"toolCalls":[{"name":"deadly"}]},{"text":["Survived."]}]})";
  Client client{.spec = spec_with_tools({HostTool{"deadly"}})};
  int begun = 0;
  for (int i = 0; i < 10 && !client.done; ++i) {
    World world(disk, kDeadly);
    ToolDecl decl{.name = "deadly", .site = ToolSite::host, .annotations = GetParam()};
    ToolLog log;
    world.tools.tools["deadly"] = std::make_shared<CountingTool>(decl, log, [&world, &begun] {
      ++begun;
      world.crash.at = world.crash.step;
    });
    recover(world);
    world.tasks.spawn("client", client.go(&world));
    world.run_until([&client] { return client.done; });
  }
  EXPECT_EQ(begun, agent::kCallResumesMax);
  EXPECT_TRUE(client.done);
  const std::vector<std::string> lines = log_of(disk, *client.run);
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("A restart cut this call off.") != std::string::npos;
  })) << ::testing::PrintToString(lines);
  EXPECT_EQ(type_of_line(last_event(*client.run)), "result");
  EXPECT_EQ(findings_of(disk), Prompts());
}

INSTANTIATE_TEST_SUITE_P(Promises, DeadlyToolTest,
                         ::testing::Values(ToolAnnotations{.idempotent = true},
                                           ToolAnnotations{.resumable = true}));

struct MissingModelTest : RestartTest {
  RunId run;
  void SetUp() override {
    World world(disk, kSlow);
    run = create(world, "slow");
  }
};

TEST_F(MissingModelTest, ARunWhoseModelIsGoneCanBeCancelled) {
  World world(disk, kSlow, {}, {}, {}, "another");
  recover(world);
  pass(world, seconds(10));
  EXPECT_EQ(world.engine.count(Place::resting), 1U);

  EXPECT_EQ(cancel(world, run), RunStatus::cancelled);
  pass(world, seconds(1));

  EXPECT_EQ(status(world, run), RunStatus::cancelled);
  EXPECT_EQ(world.asked, 0);
}

TEST_F(MissingModelTest, ARunWhoseModelIsGoneRunsOutOfTime) {
  World world(disk, kSlow, {}, {}, {}, "another");
  recover(world);
  world.run_until([&] { return status(world, run) == RunStatus::failed; });

  EXPECT_NE(last_event(run).find("error_max_run_time"), std::string::npos);
}

struct ClockTest : RestartTest {
  Client client{.spec = spec_with_tools({client_tool("look")}), .answers = false};

  void wait_for_call(World& world) {
    recover(world);
    world.tasks.spawn("client", client.go(&world));
    world.run_until([this] { return !client.pending.empty(); });
  }
};

TEST_F(ClockTest, NeitherAJumpNorTimeWhileDownEndsARun) {
  {
    World world(disk, kOneCall);
    wait_for_call(world);
    disk.clock.jump(std::chrono::hours(72));
    pass(world, seconds(10));
    EXPECT_EQ(status(world, *client.run), RunStatus::waiting);
  }
  disk.clock.pass(std::chrono::hours(100));
  World world(disk, kOneCall);
  recover(world);
  pass(world, seconds(60));

  EXPECT_EQ(status(world, *client.run), RunStatus::waiting);
}

TEST_F(ClockTest, AJumpNeitherForgetsAKeyNorRemovesRuns) {
  World world(disk, kTalk, {}, {.keep_runs = std::chrono::hours(24)});
  world.engine.start();
  Idempotency key{.key = "k", .fingerprint = "f"};
  RunId run = world.result_of(world.engine.create(someone(), about("talk"), key)).value();
  pass(world, seconds(1));
  disk.clock.jump(std::chrono::hours(72));
  pass(world, seconds(120));

  EXPECT_EQ(world.result_of(world.engine.create(someone(), about("talk"), key)).value(), run);
  EXPECT_EQ(status(world, run), RunStatus::succeeded);
}

}  // namespace
}  // namespace errand::engine::testing::restart_test
