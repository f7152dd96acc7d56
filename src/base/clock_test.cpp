#include "base/clock.hpp"

#include <gtest/gtest.h>

namespace errand::clock_test {
namespace {

TEST(Clock, IsoDatesHaveMillisecondsAndZone) {
  EXPECT_EQ(to_iso8601(from_millis(0)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(to_iso8601(from_millis(1'794'744'000'007)), "2026-11-15T12:00:00.007Z");
  EXPECT_EQ(to_iso8601(from_millis(253'402'300'799'999)), "9999-12-31T23:59:59.999Z");
}

TEST(Clock, IsoDatesKnowLeapDays) {
  EXPECT_EQ(to_iso8601(from_millis(951'782'400'000)), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(to_iso8601(from_millis(1'709'251'199'999)), "2024-02-29T23:59:59.999Z");
  EXPECT_EQ(to_iso8601(from_millis(1'709'251'200'000)), "2024-03-01T00:00:00.000Z");
  EXPECT_EQ(to_iso8601(from_millis(4'107'542'400'000)), "2100-03-01T00:00:00.000Z");
}

TEST(Clock, IsoDatesBefore1970RoundDownToTheirSecond) {
  EXPECT_EQ(to_iso8601(from_millis(-1)), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(to_iso8601(from_millis(-86'400'001)), "1969-12-30T23:59:59.999Z");
}

TEST(Clock, MillisSurviveBothWays) {
  EXPECT_EQ(to_millis(from_millis(1'794'744'000'007)), 1'794'744'000'007);
  EXPECT_EQ(to_millis(from_millis(-5)), -5);
}

TEST(Clock, TheSystemClockTellsTheTimeOfDay) {
  auto before = std::chrono::system_clock::now();
  WallTime now = SystemClock().now();
  auto after = std::chrono::system_clock::now();
  EXPECT_LE(std::chrono::floor<milliseconds>(before), now);
  EXPECT_LE(now, after);
}

}  // namespace
}  // namespace errand::clock_test
