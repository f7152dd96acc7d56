#include "engine/residency/trials.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace errand::engine::trials_test {
namespace {

RunId run(int number) {
  return *RunId::parse(cat("run_", 1000 + number));
}

std::vector<std::size_t> sizes(const std::vector<std::vector<RunId>>& groups) {
  std::vector<std::size_t> out;
  for (const auto& group : groups) out.push_back(group.size());
  return out;
}

Suspects same(int count, Suspicion suspicion) {
  Suspects suspects;
  for (int i = 0; i < count; ++i) suspects[run(i)] = suspicion;
  return suspects;
}

TEST(Trials, ARecordIsReadAsItWasWritten) {
  Trial trial{.suspects = {{run(1), {.kills = 2, .strikes = 1}}, {run(2), {.kills = 1}}},
              .is_everyone_on = true,
              .on = {run(2)}};

  EXPECT_EQ(parse_trial(to_json(trial)).value(), trial);
  EXPECT_FALSE(parse_trial(R"({"suspects":[["run_1",1,2]],"everyone":false,"on":[]})"));
  EXPECT_FALSE(parse_trial("{}"));
}

TEST(Trials, AKillCountsOnlyAgainstRunsThatWereOnTrial) {
  Trial trial{.suspects = {{run(1), {.kills = 1}}, {run(2), {.kills = 1}}}, .on = {run(2)}};

  EXPECT_EQ(suspicion_of(trial, run(1), ProcessEnd::killed), (Suspicion{.kills = 1}));
  EXPECT_EQ(suspicion_of(trial, run(2), ProcessEnd::killed), (Suspicion{.kills = 2, .strikes = 1}));
  EXPECT_EQ(suspicion_of(trial, run(3), ProcessEnd::killed), Suspicion());
}

TEST(Trials, AKillWhileEveryoneIsOnTrialMakesSuspectsWithoutAStrike) {
  Trial trial{.suspects = {{run(1), {.kills = 1}}}, .is_everyone_on = true};

  EXPECT_EQ(suspicion_of(trial, run(7), ProcessEnd::killed), (Suspicion{.kills = 1}));
  EXPECT_EQ(suspicion_of(trial, run(1), ProcessEnd::killed), (Suspicion{.kills = 1}));
}

TEST(Trials, ACleanStopCountsNothing) {
  Trial trial{.suspects = {{run(1), {.kills = 1}}}, .is_everyone_on = true, .on = {run(1)}};

  EXPECT_EQ(suspicion_of(trial, run(1), ProcessEnd::left), (Suspicion{.kills = 1}));
  EXPECT_EQ(suspicion_of(trial, run(2), ProcessEnd::left), Suspicion());
}

TEST(Trials, GroupsHalveWithEveryKillUntilEachRunIsAlone) {
  EXPECT_EQ(sizes(plan_trials(same(1000, {.kills = 1}))), (std::vector<std::size_t>{500, 500}));
  EXPECT_EQ(sizes(plan_trials(same(5, {.kills = 2}))), (std::vector<std::size_t>{2, 2, 1}));
  EXPECT_EQ(sizes(plan_trials(same(3, {.kills = 40}))), (std::vector<std::size_t>{1, 1, 1}));
  EXPECT_EQ(plan_trials({}), (std::vector<std::vector<RunId>>{}));
}

TEST(Trials, TheLeastSuspiciousAreTriedFirst) {
  Suspects suspects{{run(1), {.kills = 3}}, {run(2), {.kills = 1}}};

  EXPECT_EQ(plan_trials(suspects), (std::vector<std::vector<RunId>>{{run(2)}, {run(1)}}));
}

// The culprit among many is found and fails alone.
TEST(Trials, ACulpritIsAloneAfterFewKills) {
  Suspects suspects = same(1000, {.kills = 1});
  const RunId culprit = run(617);
  int kills = 0;
  while (suspects[culprit].strikes < 3) {
    ASSERT_LT(++kills, 20);
    Trial trial{.suspects = suspects};
    for (const std::vector<RunId>& group : plan_trials(suspects)) {
      trial.on = group;
      if (std::find(group.begin(), group.end(), culprit) != group.end()) break;
      for (const RunId& innocent : group) suspects.erase(innocent);
    }
    for (auto& [id, suspicion] : suspects) {
      suspicion = suspicion_of(trial, id, ProcessEnd::killed);
    }
    for (const auto& [id, suspicion] : suspects) {
      if (id != culprit) EXPECT_EQ(suspicion.strikes, 0);
    }
  }
}

}  // namespace
}  // namespace errand::engine::trials_test
