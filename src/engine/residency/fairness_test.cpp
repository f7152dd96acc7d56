// What the run of one workspace notices of another workspace that wants everything.
#include <gtest/gtest.h>

#include "engine/flows/test_world.hpp"

namespace errand::engine::testing::fairness_test {
namespace {

// Ten pieces of text, one each 100 ms, in each of two turns.
constexpr std::string_view kSlowTalk = R"({"turns":[
  {"delayMs":100,"deltaDelayMs":100,"text":["a","b","c","d","e","f","g","h","i"],
   "toolCalls":[{"name":"idempotent"}]},
  {"delayMs":100,"deltaDelayMs":100,"text":["a","b","c","d","e","f","g","h","i","j"]}]})";
constexpr milliseconds kStep{10};
constexpr int kStepsMax = 10'000;
constexpr int kWaitingRuns = 1000;

Principal member_of(const char* workspace) {
  return {.workspace = *WorkspaceSlug::parse(workspace), .key = *KeyId::parse("key_1")};
}

RunId create(World& world, const char* workspace) {
  Spec spec = spec_with_tools({HostTool{.name = "idempotent"}});
  auto run = world.result_of(world.engine.create(member_of(workspace), spec, {}));
  EXPECT_TRUE(run) << run.error().describe();
  return *run;
}

// In how many steps of the clock a run of workspace "b" is created and ends, beside so many runs
// of workspace "a".
int steps_of_a_run(Limits limits, int others) {
  Disk disk;
  World world(disk, kSlowTalk, {}, limits);
  for (int i = 0; i < others; ++i) create(world, "a");
  // The runs of "a" are at any place of their work, and not all at the same.
  for (int i = 0; i < 25; ++i) pass(disk, {&world}, kStep);
  const std::size_t waiting = world.engine.slots().waiting() + world.engine.turns().waiting();
  EXPECT_EQ(waiting > 900, others > 900);
  RunId run = create(world, "b");
  for (int step = 0; step < kStepsMax; ++step) {
    auto shown = world.result_of(world.engine.get(member_of("b"), run));
    if (shown->row.status == RunStatus::succeeded) return step;
    pass(disk, {&world}, kStep);
  }
  return kStepsMax;
}

void expect_fair(const Limits& limits) {
  const int alone = steps_of_a_run(limits, 0);
  const int beside = steps_of_a_run(limits, kWaitingRuns);
  EXPECT_GE(alone, 200);
  EXPECT_LE(beside * 10, alone * 11) << "alone " << alone << " steps, beside others " << beside;
}

TEST(Fairness, RunsThatWaitForTheirWorkspaceDelayNoOtherWorkspace) {
  expect_fair({.slots = {.per_workspace = 4}});
}

TEST(Fairness, RunsThatWaitForASlotOfTheServerDelayNoOtherWorkspace) {
  expect_fair({.slots = {.per_workspace = 14, .in_all = 16}});
}

TEST(Fairness, TurnsThatWaitForAConnectionDelayNoOtherWorkspace) {
  expect_fair({.turns = {.turns = 16, .per_workspace = 14}});
}

}  // namespace
}  // namespace errand::engine::testing::fairness_test
