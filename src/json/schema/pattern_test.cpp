#include "json/schema/pattern.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace errand::json::schema::pattern_test {
namespace {

bool matches(std::string_view pattern, std::string_view text) {
  Budget budget(1'000'000);
  return Pattern::compile(pattern).value()->matches(text, budget);
}

ErrorCode refusal(std::string_view pattern) {
  return Pattern::compile(pattern).error().code();
}

TEST(SchemaPattern, MatchesAnyPartOfTheText) {
  EXPECT_TRUE(matches("b", "abc"));
  EXPECT_FALSE(matches("^b", "abc"));
  EXPECT_FALSE(matches("^abc$", "abc\n"));
}

TEST(SchemaPattern, ClassesMeanWhatEcmaScriptSays) {
  EXPECT_FALSE(matches("^\\d$", "\xE0\xA7\xAA"));  // a Bengali digit
  EXPECT_FALSE(matches("^\\w$", "\xC3\xA9"));
  EXPECT_TRUE(matches("^\\s$", "\xE2\x80\xA9"));  // a paragraph separator
  EXPECT_FALSE(matches("^\\S$", "\xC2\xA0"));     // a no-break space
  EXPECT_TRUE(matches("^[\\S]$", "\xC3\xA9"));
  EXPECT_TRUE(matches("^[^\\S]$", "\v"));
  EXPECT_FALSE(matches("^.$", "\r"));
  EXPECT_TRUE(matches("^[^]$", "\n"));
  EXPECT_FALSE(matches("[]", "a"));
  EXPECT_TRUE(matches("^[[:a]$", "["));
}

TEST(SchemaPattern, EscapesOfEcmaScriptAreKnown) {
  EXPECT_TRUE(matches("^\\u0041\\x42\\cJ\\0$", std::string_view("AB\n\0", 4)));
  EXPECT_TRUE(matches("^\\uD83D\\uDE00$", "\xF0\x9F\x98\x80"));
  EXPECT_TRUE(matches("^\\u{1F600}$", "\xF0\x9F\x98\x80"));
  EXPECT_TRUE(matches("^[\\b]\\/\\-\\_$", "\b/-_"));
  EXPECT_TRUE(matches("^\\p{Letter}\\p{Script=Greek}\\P{L}$",
                      "a\xCE\xB1"
                      "1"));
  EXPECT_TRUE(matches("^(?<year>\\d{4})$", "2024"));
  EXPECT_TRUE(matches("(?i)^abc$", "ABC"));
}

TEST(SchemaPattern, WhatIsNoRegularExpressionIsRefused) {
  for (std::string_view pattern : {"(", "[a", "a**", "\\", "\\a", "\\u12", "\\cé", "\\p{Nothing}",
                                   "\\Qa\\E", "(?P<a>b)", "\\uD83D", "[b-a]"}) {
    EXPECT_EQ(refusal(pattern), ErrorCode::invalid_argument) << pattern;
  }
}

TEST(SchemaPattern, WhatNeedsBacktrackingIsRefused) {
  for (std::string_view pattern : {"(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "(a)\\1", "\\k<a>"}) {
    EXPECT_EQ(refusal(pattern), ErrorCode::unsupported) << pattern;
  }
}

TEST(SchemaPattern, AMatchThatIsNotAffordableExhaustsTheBudget) {
  Budget budget(10);
  EXPECT_FALSE(Pattern::compile("a").value()->matches(std::string(100'000, 'a'), budget));
  EXPECT_TRUE(budget.spent());
}

}  // namespace
}  // namespace errand::json::schema::pattern_test
