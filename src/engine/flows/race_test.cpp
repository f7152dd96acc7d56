// A cancel that comes at the same moment as an answer or the end of the run's time, and a reader
// that is ahead of its run.
#include <cstdlib>

#include "engine/flows/test_run.hpp"

namespace errand::engine::testing::race_test {
namespace {

constexpr std::string_view kOneCall = R"({"turns":[
  {"toolCalls":[{"name":"look"}]},{"text":["one ","two ","three"]}]})";
// So many handlers of the loop run at most between the answer and the cancel.
constexpr int kApartMax = 60;

// 10,000 if ERRAND_TORTURE is 10 or more.
int races() {
  const char* times = std::getenv("ERRAND_TORTURE");
  return times && std::atoi(times) >= 10 ? 10'000 : 4 * kApartMax;
}

// One run whose call is offered; whoever cancels it is told how it ends.
struct Race {
  Disk disk;
  World world;
  Client client{.spec = spec_with_tools({client_tool("look")}), .answers = false};
  std::optional<RunStatus> told;

  explicit Race(Limits limits = {}) : world(disk, kOneCall, {}, limits) {
    world.tasks.spawn("client", client.go(&world));
    world.run_until([this] { return !client.pending.empty(); });
  }

  static Task<void> answer(Race* race) {
    auto answered = co_await race->world.engine.answer(
        someone(), *race->client.run, {.tool_use_id = *race->client.pending.begin()});
    EXPECT_TRUE(answered || answered.error().reason() == "run_terminal" ||
                answered.error().reason() == "unknown_tool_use");
  }
  static Task<void> cancel(Race* race) {
    auto cancelled = co_await race->world.engine.cancel(someone(), *race->client.run);
    race->told = cancelled.value();
  }

  RunStatus finish() {
    world.settle();
    testing::pass(disk, {&world}, seconds(5));
    return world.result_of(world.engine.get(someone(), *client.run)).value().row.status;
  }
};

TEST(RaceTest, ACancelThatRacesWithAnAnswerSaysHowTheRunEnds) {
  int succeeded = 0;
  int cancelled = 0;
  for (int round = 0; round < races(); ++round) {
    SCOPED_TRACE(round);
    Race race;
    const bool answer_first = round % 4 != 0;
    race.world.tasks.spawn("first", answer_first ? Race::answer(&race) : Race::cancel(&race));
    race.world.step((round / 2) % kApartMax + (round / (2 * kApartMax)) % 7);
    race.world.tasks.spawn("second", answer_first ? Race::cancel(&race) : Race::answer(&race));
    const RunStatus ended = race.finish();

    ASSERT_TRUE(race.told);
    ASSERT_EQ(ended, *race.told);
    ASSERT_EQ(findings_of(race.disk), std::vector<std::string>());
    (ended == RunStatus::cancelled ? cancelled : succeeded) += 1;
  }
  EXPECT_GT(succeeded, 0);
  EXPECT_GT(cancelled, 0);
}

// The cancelled call stays unanswered, so the run's time may end within the grace of the cancel.
TEST(RaceTest, ACancelThatRacesWithTheEndOfTheRunsTimeSaysHowTheRunEnds) {
  constexpr milliseconds kRunTime{10'000};
  constexpr milliseconds kMoment{250};
  int failed = 0;
  int cancelled = 0;
  for (int round = 0; round < 4 * kApartMax; ++round) {
    SCOPED_TRACE(round);
    Race race({.run_time = kRunTime});
    testing::pass(race.disk, {&race.world}, kRunTime + kMoment * (2 - round % 10));
    race.world.tasks.spawn("cancel", Race::cancel(&race));
    race.world.step(round / 10);
    race.world.timers.advance(kMoment);
    const RunStatus ended = race.finish();

    ASSERT_TRUE(race.told);
    ASSERT_EQ(ended, *race.told);
    ASSERT_EQ(findings_of(race.disk), std::vector<std::string>());
    (ended == RunStatus::cancelled ? cancelled : failed) += 1;
  }
  EXPECT_GT(failed, 0);
  EXPECT_GT(cancelled, 0);
}

TEST(RaceTest, AReaderAheadOfALiveRunSeesWhatComesNextAndTheEnd) {
  Race race;
  auto ahead =
      race.world.result_of(race.world.engine.subscribe(someone(), *race.client.run, 1'000'000))
          .value();
  const std::size_t before = race.client.seen.size();
  race.world.tasks.spawn("answer", Race::answer(&race));
  race.world.run_until([&race] { return race.client.done; });

  std::vector<std::string> lines;
  for (bool ended = false; !ended;) {
    auto batch = race.world.result_of(ahead->next(SteadyTime::max()));
    for (std::string& line : lines_of(batch.segments, batch.after)) lines.push_back(line);
    ended = batch.state == Subscription::Batch::State::ended;
  }
  EXPECT_EQ(lines,
            std::vector<std::string>(race.client.seen.begin() + static_cast<std::ptrdiff_t>(before),
                                     race.client.seen.end()));
  EXPECT_EQ(type_of_line(lines.back()), "result");
}

}  // namespace
}  // namespace errand::engine::testing::race_test
