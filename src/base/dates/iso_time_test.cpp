#include "base/dates/iso_time.hpp"

#include <gtest/gtest.h>

namespace errand::iso_time_test {
namespace {

TEST(IsoTime, DatesAreReadBack) {
  for (std::int64_t millis : {0LL, 1'794'744'000'007LL, 951'782'400'000LL, -1LL}) {
    EXPECT_EQ(parse_iso8601(to_iso8601(from_millis(millis))), from_millis(millis));
  }
  EXPECT_EQ(parse_iso8601("2026-11-15"), parse_iso8601("2026-11-15T00:00Z"));
  EXPECT_EQ(parse_iso8601("2026-11-15T12:00:00.5Z"), parse_iso8601("2026-11-15T12:00:00.500Z"));
  EXPECT_EQ(parse_iso8601("2026-11-15T12:00:00.0079Z"), from_millis(1'794'744'000'007));
  EXPECT_EQ(parse_iso8601("2026-11-15T13:30+01:30"), parse_iso8601("2026-11-15T12:00Z"));
  EXPECT_EQ(parse_iso8601("2026-11-15T10:30-01:30"), parse_iso8601("2026-11-15T12:00Z"));
}

TEST(IsoTime, OtherTextsAreNoDates) {
  for (std::string_view text :
       {"", "today", "2026-11", "2026-13-01", "2026-02-29", "2026-11-15T", "2026-11-15T12:00",
        "2026-11-15T24:00Z", "2026-11-15T12:00:00.Z", "2026-11-15T12:00Z ", "2026-11-15T12:00+1",
        "+026-11-15", "1794744000007"}) {
    EXPECT_EQ(parse_iso8601(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace errand::iso_time_test
