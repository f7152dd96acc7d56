#include "engine/residency/slots.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text.hpp"

namespace errand::engine::slots_test {
namespace {

RunKey run(const char* workspace, int number) {
  return {.workspace = *WorkspaceSlug::parse(workspace), .run = *RunId::parse(cat("run_", number))};
}

// The next `count` runs that start, by their workspaces.
std::string turns(Slots& slots, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    auto next = slots.next();
    if (!next) return out + "-";
    slots.take(next->workspace);
    out += next->workspace.str();
  }
  return out;
}

TEST(Slots, WithoutLimitsEveryRunStartsAtOnce) {
  Slots slots({});
  for (int i = 0; i < 1000; ++i) slots.take(*WorkspaceSlug::parse("a"));
  EXPECT_TRUE(slots.is_free(*WorkspaceSlug::parse("a")));
}

TEST(Slots, AWorkspaceHasItsOwnLimit) {
  Slots slots({.per_workspace = 1});
  slots.take(*WorkspaceSlug::parse("a"));
  EXPECT_FALSE(slots.is_free(*WorkspaceSlug::parse("a")));
  EXPECT_TRUE(slots.is_free(*WorkspaceSlug::parse("b")));
  slots.wait(run("a", 1));
  EXPECT_EQ(slots.next(), std::nullopt);
  slots.give_back(*WorkspaceSlug::parse("a"));
  EXPECT_EQ(slots.next(), run("a", 1));
}

TEST(Slots, ANewRunDoesNotOvertakeThoseThatWait) {
  Slots slots({.per_workspace = 1});
  slots.wait(run("a", 1));
  EXPECT_FALSE(slots.is_free(*WorkspaceSlug::parse("a")));
  EXPECT_TRUE(slots.is_free(*WorkspaceSlug::parse("b")));
}

TEST(Slots, WorkspacesTakeTurnsHoweverManyRunsOneHas) {
  Slots slots({.in_all = 100});
  for (int i = 0; i < 50; ++i) slots.wait(run("a", i));
  for (int i = 0; i < 3; ++i) slots.wait(run("b", i));
  slots.wait(run("c", 0));
  EXPECT_EQ(turns(slots, 9), "abcababaa");
}

TEST(Slots, AWorkspaceAtItsLimitIsPassedOver) {
  Slots slots({.per_workspace = 2, .in_all = 100});
  for (int i = 0; i < 9; ++i) slots.wait(run("a", i));
  for (int i = 0; i < 3; ++i) slots.wait(run("b", i));
  EXPECT_EQ(turns(slots, 9), "abab-");
}

TEST(Slots, RunsOfAWorkspaceStartInTheirOrder) {
  Slots slots({.per_workspace = 3});
  slots.wait(run("a", 0));
  const Slots::Ticket left = slots.wait(run("a", 1));
  slots.wait(run("a", 2));
  slots.leave(*WorkspaceSlug::parse("a"), left);
  slots.leave(*WorkspaceSlug::parse("a"), left);
  EXPECT_EQ(slots.waiting(), 2U);
  EXPECT_EQ(slots.next(), run("a", 0));
  EXPECT_EQ(slots.next(), run("a", 2));
  EXPECT_EQ(slots.next(), std::nullopt);
}

// Looking at every run that waits for each one that leaves would take minutes here.
TEST(Slots, AHundredThousandRunsLeaveAtOnce) {
  const WorkspaceSlug workspace = *WorkspaceSlug::parse("a");
  Slots slots({.per_workspace = 1});
  std::vector<Slots::Ticket> tickets;
  for (int i = 0; i < 100'000; ++i) tickets.push_back(slots.wait(run("a", i)));
  while (tickets.size() > 1) {
    slots.leave(workspace, tickets.back());
    tickets.pop_back();
  }
  slots.wait(run("a", 5));
  EXPECT_EQ(slots.waiting(), 2U);
  EXPECT_EQ(slots.next(), run("a", 0));
  EXPECT_EQ(slots.next(), run("a", 5));
  EXPECT_EQ(slots.next(), std::nullopt);
}

TEST(Slots, AWorkspaceWhoseRunsHaveAllLeftIsFree) {
  const WorkspaceSlug workspace = *WorkspaceSlug::parse("a");
  Slots slots({.per_workspace = 2});
  slots.take(workspace);
  const Slots::Ticket first = slots.wait(run("a", 1));
  const Slots::Ticket second = slots.wait(run("a", 2));
  slots.leave(workspace, second);
  EXPECT_FALSE(slots.is_free(workspace));
  slots.leave(workspace, first);
  EXPECT_TRUE(slots.is_free(workspace));
}

TEST(Slots, ARunThatGoesOnMayGoPastTheLimit) {
  Slots slots({.per_workspace = 1});
  slots.take(*WorkspaceSlug::parse("a"));
  slots.take(*WorkspaceSlug::parse("a"));
  slots.wait(run("a", 1));
  slots.give_back(*WorkspaceSlug::parse("a"));
  EXPECT_EQ(slots.next(), std::nullopt);
  slots.give_back(*WorkspaceSlug::parse("a"));
  EXPECT_EQ(slots.next(), run("a", 1));
}

// Every run takes ten steps. One workspace has a thousand runs that wait; the latency of another
// workspace's run, in steps, is what it is on an idle server.
TEST(Slots, AThousandWaitingRunsDoNotDelayAnotherWorkspace) {
  constexpr int kSteps = 10;
  Slots slots({.per_workspace = 4});
  std::vector<std::pair<RunKey, int>> in_flight;
  for (int i = 0; i < 1000; ++i) slots.wait(run("a", i));
  int latency = 0;
  for (int step = 0; latency == 0 && step < 1000; ++step) {
    if (step == 25) slots.wait(run("b", 0));
    while (auto next = slots.next()) {
      slots.take(next->workspace);
      in_flight.emplace_back(*next, step + kSteps);
    }
    std::erase_if(in_flight, [&](const auto& one) {
      if (one.second > step + 1) return false;
      slots.give_back(one.first.workspace);
      if (one.first == run("b", 0)) latency = step + 1 - 25;
      return true;
    });
  }
  EXPECT_EQ(latency, kSteps);
  EXPECT_GT(slots.waiting(), 900U);
}

}  // namespace
}  // namespace errand::engine::slots_test
