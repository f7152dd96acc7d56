#include "base/dates/http_date.hpp"

#include <gtest/gtest.h>

namespace errand::http_date_test {
namespace {

TEST(HttpDate, EachOfTheThreeFormsIsRead) {
  for (const char* text : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                           "Sun Nov  6 08:49:37 1994"}) {
    auto time = parse_http_date(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(to_iso8601(*time), "1994-11-06T08:49:37.000Z") << text;
  }
}

TEST(HttpDate, AnythingElseIsNone) {
  for (const char* text : {"", "tomorrow", "Sun, 06 Nov 1994 08:49:37 GMT and more", "784111777"}) {
    EXPECT_FALSE(parse_http_date(text)) << text;
  }
}

}  // namespace
}  // namespace errand::http_date_test
