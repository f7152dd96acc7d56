#include "async/backoff.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace errand::backoff_test {
namespace {

constexpr Backoff::Bounds kBounds{.first = milliseconds(100), .max = milliseconds(400)};

std::vector<milliseconds> pauses_of(std::string_view who, int count) {
  Backoff backoff(kBounds, who);
  std::vector<milliseconds> pauses;
  for (int i = 0; i < count; ++i) pauses.push_back(backoff.next());
  return pauses;
}

TEST(Backoff, PausesDoubleUpToTheBound) {
  const std::vector<milliseconds> pauses = pauses_of("run_1", 4);
  EXPECT_NEAR(static_cast<double>(pauses[1].count()), 2.0 * static_cast<double>(pauses[0].count()),
              2);
  EXPECT_NEAR(static_cast<double>(pauses[2].count()), 2.0 * static_cast<double>(pauses[1].count()),
              2);
  EXPECT_EQ(pauses[3], pauses[2]);
}

TEST(Backoff, OneCallerHasTheSamePausesEveryTime) {
  EXPECT_EQ(pauses_of("run_1", 4), pauses_of("run_1", 4));
}

TEST(Backoff, CallersThatFailTogetherComeBackAtMomentsOfTheirOwn) {
  std::set<milliseconds> moments;
  for (int i = 0; i < 1000; ++i) moments.insert(pauses_of(std::to_string(i), 1).front());
  // Of the 100 ms that a first pause varies by.
  EXPECT_GT(moments.size(), 90U);
  EXPECT_GE(*moments.begin(), kBounds.first / 2);
  EXPECT_LE(*moments.rbegin(), kBounds.first * 3 / 2);
}

}  // namespace
}  // namespace errand::backoff_test
