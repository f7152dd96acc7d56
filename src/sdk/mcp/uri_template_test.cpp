#include "sdk/mcp/uri_template.hpp"

#include <gtest/gtest.h>

namespace errand::sdk::uri_template_test {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<Variables> match(std::string_view text, std::string_view uri) {
  auto pattern = UriTemplate::parse(text);
  return pattern ? pattern->match(uri) : std::nullopt;
}

TEST(UriTemplate, FindsTheVariablesOfAUri) {
  EXPECT_EQ(match("log://{day}", "log://monday"), (Variables{{"day", "monday"}}));
  EXPECT_EQ(match("a://{x}/b/{y}", "a://1/b/2"), (Variables{{"x", "1"}, {"y", "2"}}));
  EXPECT_EQ(match("a://{x}/data", "a://7/data"), (Variables{{"x", "7"}}));
  EXPECT_EQ(match("file://{+path}", "file://a/b%20c"), (Variables{{"path", "a/b c"}}));
  EXPECT_EQ(match("file://{+path}/end", "file://a/end/b/end"), (Variables{{"path", "a/end/b"}}));
  EXPECT_EQ(match("plain://x", "plain://x"), Variables());
}

TEST(UriTemplate, RefusesOtherUris) {
  EXPECT_EQ(match("log://{day}", "log://"), std::nullopt);
  EXPECT_EQ(match("log://{day}", "log://a/b"), std::nullopt);
  EXPECT_EQ(match("log://{day}", "LOG://monday"), std::nullopt);
  EXPECT_EQ(match("log://{day}/x", "log://monday"), std::nullopt);
  EXPECT_EQ(match("a://{x}/b/{y}", "a://1/c/2"), std::nullopt);
  EXPECT_EQ(match("log://{day}", "log://%zz"), std::nullopt);
  EXPECT_EQ(match("plain://x", "plain://xy"), std::nullopt);
}

TEST(UriTemplate, RefusesPatternsOfOtherKinds) {
  for (std::string_view text : {"a://{x", "a://{}", "a://{?q}", "a://{x,y}", "a://{x}{y}",
                                "a://{x}/{x}", "a://{x:3}", "a://{x*}"}) {
    auto pattern = UriTemplate::parse(text);
    ASSERT_FALSE(pattern) << text;
    EXPECT_EQ(pattern.error().code(), ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace errand::sdk::uri_template_test
