#include "json/place.hpp"

#include <gtest/gtest.h>

#include "json/parse.hpp"

namespace errand::json::place_test {
namespace {

constexpr std::string_view kText = R"(// A file.
{
  "a": [1, {"b": "x, \" }", /* no "c" here */ "c": 3}, [4]],
  "ä/~": true, "d": {},
}
)";

TEST(Place, IsThatOfTheMemberOrItem) {
  EXPECT_EQ(place_of(kText, ""), (Place{2, 1}));
  EXPECT_EQ(place_of(kText, "/a"), (Place{3, 3}));
  EXPECT_EQ(place_of(kText, "/a/0"), (Place{3, 9}));
  EXPECT_EQ(place_of(kText, "/a/1/b"), (Place{3, 13}));
  EXPECT_EQ(place_of(kText, "/a/1/c"), (Place{3, 47}));
  EXPECT_EQ(place_of(kText, "/a/2/0"), (Place{3, 57}));
  EXPECT_EQ(place_of(kText, "/ä~1~0"), (Place{4, 3}));
  EXPECT_EQ(place_of(kText, "/d"), (Place{4, 16}));
}

TEST(Place, OfWhatIsMissingIsThatOfWhatShouldHaveIt) {
  EXPECT_EQ(place_of(kText, "/a/1/missing"), (Place{3, 12}));
  EXPECT_EQ(place_of(kText, "/a/7"), (Place{3, 3}));
  EXPECT_EQ(place_of(kText, "/a/x"), (Place{3, 3}));
  EXPECT_EQ(place_of(kText, "/nothing/at/all"), (Place{2, 1}));
  EXPECT_EQ(place_of("", "/a"), (Place{1, 1}));
}

TEST(Place, OfACutTextIsInsideIt) {
  for (std::size_t bytes = 0; bytes < kText.size(); ++bytes) {
    EXPECT_LE(place_of(kText.substr(0, bytes), "/a/1/c").line, 5U);
  }
}

TEST(Place, GoesInFrontOfWhatIsWrongInAFile) {
  constexpr std::string_view kWrong = "{\n  \"a\": 1\n  \"b\": 2\n}\n";
  EXPECT_EQ(in_file("f.json", kWrong, parse(kWrong).error()).message(),
            "f.json:3:3: not valid JSON: syntax error");
  EXPECT_EQ(
      in_file("f.json", kText, Error(ErrorCode::invalid_argument, "no").pointer("/d")).message(),
      "f.json:4:16: no (at /d)");
  EXPECT_EQ(in_file("f.json", kText, Error(ErrorCode::invalid_argument, "no")).message(),
            "f.json: no");
}

}  // namespace
}  // namespace errand::json::place_test
