#include "agent/calls.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/text.hpp"

namespace errand::agent::calls_test {
namespace {

using Stage = Calls::Stage;
using Ids = std::vector<ToolUseId>;

ToolUseId id(std::string_view name) {
  return *ToolUseId::parse(cat("tu_", name));
}

struct CallsTest : ::testing::Test {
  ManualTimers timers;
  Ids over;  // whose times were over, in order
  Calls calls{timers, [this](const ToolUseId& call) { over.push_back(call); }};

  SteadyTime in(int seconds_from_now) const { return timers.now() + seconds(seconds_from_now); }
};

TEST_F(CallsTest, ACallOfWhichNothingIsKnownIsOpen) {
  EXPECT_EQ(calls.find(id("a")), nullptr);
  EXPECT_EQ(calls.stage_of(id("a")), Stage::open);
  EXPECT_FALSE(calls.is_started(id("a")));
  EXPECT_FALSE(calls.is_under_way(id("a")));
}

TEST_F(CallsTest, ACallIsSettledOnce) {
  calls.at(id("a")).stage = Stage::started;
  EXPECT_TRUE(calls.is_under_way(id("a")));
  EXPECT_TRUE(calls.settle(id("a")));
  EXPECT_FALSE(calls.settle(id("a")));
  EXPECT_TRUE(calls.is_started(id("a")));
  EXPECT_FALSE(calls.is_under_way(id("a")));
}

TEST_F(CallsTest, ACallThatAFormerProcessMayHaveBegunCanBeBegunOnceItIsReopened) {
  calls.at(id("a")).stage = Stage::maybe_begun;
  calls.at(id("b")).stage = Stage::started;
  EXPECT_FALSE(calls.is_started(id("a")));
  calls.reopen();
  EXPECT_EQ(calls.stage_of(id("a")), Stage::open);
  EXPECT_EQ(calls.stage_of(id("b")), Stage::started);
}

TEST_F(CallsTest, ForgottenCallsAreTakenOnceAndWereStartedAllAlong) {
  for (const char* name : {"b", "a"}) calls.at(id(name)).stage = Stage::forgotten;
  calls.at(id("c")).stage = Stage::started;
  EXPECT_TRUE(calls.is_under_way(id("a")));
  EXPECT_EQ(calls.take_forgotten(), (Ids{id("a"), id("b")}));
  EXPECT_EQ(calls.take_forgotten(), Ids());
  EXPECT_EQ(calls.stage_of(id("a")), Stage::started);
}

TEST_F(CallsTest, ArgumentsStayUntilTheirCallHasBegunOrIsRefused) {
  for (const char* name : {"open", "started", "refused"}) calls.at(id(name)).shown = "long";
  calls.at(id("started")).stage = Stage::started;
  calls.at(id("refused")).refusal = std::make_unique<const Refusal>(Refusal{.text = "no"});
  calls.at(id("open")).refusal = nullptr;
  calls.drop_shown();
  EXPECT_EQ(calls.at(id("open")).shown, "long");
  EXPECT_EQ(calls.at(id("started")).shown, "");
  EXPECT_EQ(calls.at(id("refused")).shown, "");
}

TEST_F(CallsTest, OnlyCallsThatReportedAndCallsThatAskAreCounted) {
  calls.at(id("a")).reports = 3;
  calls.at(id("b")).unanswered = 2;
  calls.at(id("c")).questions = 1;
  EXPECT_EQ(calls.reports(), (std::map<ToolUseId, int>{{id("a"), 3}}));
  EXPECT_EQ(calls.asking(), 1U);
  calls.clear();
  EXPECT_EQ(calls.reports().size(), 0U);
}

TEST_F(CallsTest, TimesEndInTheirOrderUnlessTheyAreForgotten) {
  calls.watch(id("late"), in(30));
  calls.watch(id("early"), in(10));
  calls.watch(id("never"), in(20));
  EXPECT_EQ(calls.next_time(), in(10));
  calls.forget_time(id("never"));
  timers.advance(seconds(60));
  EXPECT_EQ(over, (Ids{id("early"), id("late")}));
  EXPECT_EQ(calls.next_time(), SteadyTime::max());
}

TEST_F(CallsTest, ACallThatIsWatchedAgainHasItsNewTimeOnly) {
  calls.watch(id("a"), in(10));
  calls.watch(id("a"), in(20));
  timers.advance(seconds(15));
  EXPECT_EQ(over, Ids());
  timers.advance(seconds(15));
  EXPECT_EQ(over, Ids{id("a")});
}

TEST_F(CallsTest, TimeStandsStillUntilEveryAnswerIsThere) {
  calls.watch(id("a"), in(10));
  timers.advance(seconds(4));
  calls.hold(id("a"));
  calls.hold(id("a"));
  timers.advance(seconds(60));
  EXPECT_EQ(over, Ids());
  EXPECT_EQ(calls.release(id("a")), std::nullopt);
  EXPECT_EQ(calls.release(id("a")), seconds(6));
  EXPECT_EQ(calls.release(id("a")), std::nullopt) << "nobody holds it";
}

TEST_F(CallsTest, ACallWithoutATimeHasNothingLeft) {
  calls.hold(id("a"));
  EXPECT_EQ(calls.release(id("a")), std::nullopt);
}

TEST(Calls, NobodyIsToldOnceTheyAreGone) {
  ManualTimers timers;
  int told = 0;
  {
    Calls calls(timers, [&told](const ToolUseId&) { ++told; });
    calls.watch(id("a"), timers.now() + seconds(1));
  }
  timers.advance(seconds(2));
  EXPECT_EQ(told, 0);
  EXPECT_EQ(timers.pending(), 0U);
}

}  // namespace
}  // namespace errand::agent::calls_test
