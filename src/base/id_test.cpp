#include "base/id.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "support/manual_clock.hpp"

namespace errand::id_test {
namespace {

using ThingId = Id<struct ThingTag>;
using OtherId = Id<struct OtherTag>;
static_assert(!std::is_convertible_v<ThingId, OtherId>);
static_assert(!std::is_constructible_v<ThingId, OtherId>);

// Randomness that falls with every call, so that order can never come from it.
class Falling {
 public:
  std::uint64_t operator()() { return bits_--; }

 private:
  std::uint64_t bits_ = ~std::uint64_t{0};
};

std::vector<ThingId> make_many(IdSource& source, std::size_t count) {
  std::vector<ThingId> ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back(source.make<ThingTag>("t_"));
  return ids;
}

// True if each id is greater than the one before it.
bool rises(const std::vector<ThingId>& ids) {
  return std::is_sorted(ids.begin(), ids.end(),
                        [](const ThingId& a, const ThingId& b) { return a <= b; });
}

TEST(Id, ParseTakesTheAlphabetAndNothingElse) {
  for (int c = 0; c < 256; ++c) {
    std::string text = {'a', static_cast<char>(c)};
    bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '_' || c == '-';
    EXPECT_EQ(ThingId::parse(text).has_value(), allowed) << c;
  }
}

TEST(Id, ParseRefusesEmptyAndOverLongText) {
  EXPECT_FALSE(ThingId::parse(""));
  EXPECT_FALSE(ThingId::parse(std::string(kIdCharsMax + 1, 'a')));
  std::string longest(kIdCharsMax, 'a');
  EXPECT_EQ(ThingId::parse(longest)->str(), longest);
}

TEST(Id, ParseKeepsTheText) {
  auto id = ThingId::parse("run_A-z9");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->view(), "run_A-z9");
  EXPECT_EQ(id->str(), "run_A-z9");
  EXPECT_FALSE(id->empty());
}

TEST(Id, ADefaultOneIsEmpty) {
  EXPECT_TRUE(ThingId().empty());
  EXPECT_EQ(ThingId().view(), "");
}

TEST(Id, ComparesAndHashesByText) {
  auto a = *ThingId::parse("a");
  auto ab = *ThingId::parse("ab");
  EXPECT_EQ(a, *ThingId::parse("a"));
  EXPECT_NE(a, ab);
  EXPECT_LT(a, ab);
  std::unordered_set<ThingId> set{a, ab, *ThingId::parse("a")};
  EXPECT_EQ(set.size(), 2U);
}

TEST(IdSource, AnIdIsPrefixTimeSequenceAndRandomness) {
  ManualClock clock(1);
  IdSource source(clock, [] { return ~std::uint64_t{0}; });
  EXPECT_EQ(source.make<ThingTag>("run_").view(), "run_00000000010000vvvvvvvvvvvv");
  EXPECT_EQ(source.make<ThingTag>("run_").view(), "run_00000000010001vvvvvvvvvvvv");
  clock.set(32);
  EXPECT_EQ(source.make<ThingTag>("run_").view(), "run_00000000100000vvvvvvvvvvvv");
}

TEST(IdSource, IdsSortByTime) {
  ManualClock clock;
  IdSource source(clock, Falling());
  std::vector<ThingId> ids;
  for (std::int64_t millis : {1LL, 2LL, 31LL, 32LL, 1'000'000LL, 1'794'744'000'000LL,
                              1'794'744'000'001LL, (1LL << 48) - 1}) {
    clock.set(millis);
    ids.push_back(source.make<ThingTag>("t_"));
  }
  EXPECT_TRUE(rises(ids));
}

TEST(IdSource, IdsSortWithinOneMillisecond) {
  ManualClock clock(1'794'744'000'000);
  IdSource source(clock, Falling());
  EXPECT_TRUE(rises(make_many(source, 1000)));
}

TEST(IdSource, MoreIdsThanTheSequenceHoldsBorrowFromTheNextMillisecond) {
  ManualClock clock(1'794'744'000'000);
  IdSource source(clock, Falling());
  std::vector<ThingId> ids = make_many(source, 140'000);
  clock.set(1'794'744'000'001);
  ids.push_back(source.make<ThingTag>("t_"));
  clock.set(1'794'744'000'003);
  ids.push_back(source.make<ThingTag>("t_"));
  EXPECT_TRUE(rises(ids));
}

TEST(IdSource, AClockSetBackDoesNotDisturbTheOrder) {
  ManualClock clock(1'794'744'000'000);
  IdSource source(clock, Falling());
  std::vector<ThingId> ids = make_many(source, 10);
  clock.set(1'794'740'000'000);
  for (const ThingId& id : make_many(source, 70'000)) ids.push_back(id);
  clock.set(1'794'744'000'005);
  ids.push_back(source.make<ThingTag>("t_"));
  EXPECT_TRUE(rises(ids));
}

}  // namespace
}  // namespace errand::id_test
