#include "base/text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace errand::text_test {
namespace {

TEST(Text, LinesAreCutOffOneByOne) {
  std::vector<std::string_view> lines;
  for (std::string_view rest = "a\n\nbc"; !rest.empty();) lines.push_back(take_line(rest));
  EXPECT_EQ(lines, (std::vector<std::string_view>{"a", "", "bc"}));
  std::string_view ended = "a\n";
  EXPECT_EQ(take_line(ended), "a");
  EXPECT_EQ(ended, "");
}

TEST(Text, CatJoinsTextCharactersAndIntegers) {
  std::string word = "run";
  EXPECT_EQ(cat("a ", word, ' ', 7, " ", -1L, " ", std::size_t{3}), "a run 7 -1 3");
  EXPECT_EQ(
      cat(std::numeric_limits<std::int64_t>::min(), ",", std::numeric_limits<std::uint64_t>::max()),
      "-9223372036854775808,18446744073709551615");
  EXPECT_EQ(cat(), "");
}

TEST(Text, IntegersAreReadToTheirLastDigit) {
  EXPECT_EQ(parse_integer<std::int64_t>("-9223372036854775808"),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_integer<std::int64_t>("9223372036854775807"),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_integer<std::uint64_t>("18446744073709551615"),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_integer<int>("007"), 7);
}

TEST(Text, WhatIsNoIntegerOrDoesNotFitIsRefused) {
  EXPECT_EQ(parse_integer<std::int64_t>("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_integer<std::uint64_t>("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_integer<std::uint64_t>("-1"), std::nullopt);
  EXPECT_EQ(parse_integer<std::uint8_t>("256"), std::nullopt);
  for (std::string_view text : {"", " 1", "1 ", "+1", "1.0", "1e3", "0x10", "-", "one"}) {
    EXPECT_EQ(parse_integer<int>(text), std::nullopt) << text;
  }
}

TEST(Text, PercentEscapesAreDecodedInEitherCase) {
  EXPECT_EQ(percent_decode("a%2Fb%2fc%20d"), "a/b/c d");
  EXPECT_EQ(percent_decode("%e2%82%ac"), "\xE2\x82\xAC");
  EXPECT_EQ(percent_decode("a+b"), "a+b");
  EXPECT_EQ(percent_decode(""), "");
}

TEST(Text, MalformedPercentEscapesAreRefused) {
  for (std::string_view text : {"%", "a%", "a%2", "%zz", "%2g", "%g2", "%%20", "%-1", "% 1"}) {
    EXPECT_EQ(percent_decode(text), std::nullopt) << text;
  }
}

TEST(Text, APercentEscapeCannotSmuggleInANul) {
  EXPECT_EQ(percent_decode("a%00b"), std::nullopt);
}

TEST(Text, PercentEncodingKeepsUnreservedCharactersOnly) {
  EXPECT_EQ(percent_encode("AZaz09-._~"), "AZaz09-._~");
  EXPECT_EQ(percent_encode("a b/c?d=e&f%+"), "a%20b%2Fc%3Fd%3De%26f%25%2B");
  EXPECT_EQ(percent_encode("\xE2\x82\xAC"), "%E2%82%AC");
}

TEST(Text, PercentEncodingIsUndoneByDecoding) {
  std::string every_byte;
  for (int c = 1; c < 256; ++c) every_byte.push_back(static_cast<char>(c));
  EXPECT_EQ(percent_decode(percent_encode(every_byte)), every_byte);
}

TEST(Text, AWellFormedUtf8SequenceIsMeasured) {
  EXPECT_EQ(utf8_sequence_length("az"), 1U);
  EXPECT_EQ(utf8_sequence_length("\xC2\x80z"), 2U);
  EXPECT_EQ(utf8_sequence_length("\xE0\xA0\x80z"), 3U);
  EXPECT_EQ(utf8_sequence_length("\xED\x9F\xBFz"), 3U);
  EXPECT_EQ(utf8_sequence_length("\xF0\x90\x80\x80z"), 4U);
  EXPECT_EQ(utf8_sequence_length("\xF4\x8F\xBF\xBFz"), 4U);
}

TEST(Text, WhatIsNotWellFormedUtf8HasNoLength) {
  EXPECT_EQ(utf8_sequence_length(""), 0U);
  for (std::string_view text :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3z", "\xE0\x9F\xBF", "\xE2\x82",
        "\xE2\x82z", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF0\x9F\x98", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_EQ(utf8_sequence_length(text), 0U) << testing::PrintToString(text);
  }
}

TEST(Text, AnUtf8PrefixNeverCutsASequence) {
  std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z";  // 1, 2, 3, 4 and 1 bytes
  EXPECT_EQ(utf8_prefix(text, 0), "");
  EXPECT_EQ(utf8_prefix(text, 1), "a");
  EXPECT_EQ(utf8_prefix(text, 2), "a");
  EXPECT_EQ(utf8_prefix(text, 3), "a\xC3\xA9");
  EXPECT_EQ(utf8_prefix(text, 5), "a\xC3\xA9");
  EXPECT_EQ(utf8_prefix(text, 6), "a\xC3\xA9\xE2\x82\xAC");
  EXPECT_EQ(utf8_prefix(text, 9), "a\xC3\xA9\xE2\x82\xAC");
  EXPECT_EQ(utf8_prefix(text, 10), "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(utf8_prefix(text, 11), text);
  EXPECT_EQ(utf8_prefix(text, 1000), text);
}

TEST(Text, Utf8LengthCountsCodePoints) {
  EXPECT_EQ(utf8_length(""), 0U);
  EXPECT_EQ(utf8_length("abc"), 3U);
  EXPECT_EQ(utf8_length("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z"), 5U);
}

TEST(Text, CaseIsIgnoredForAsciiLettersOnly) {
  EXPECT_TRUE(equals_ignoring_case("Content-TYPE", "content-type"));
  EXPECT_TRUE(equals_ignoring_case("", ""));
  EXPECT_FALSE(equals_ignoring_case("abc", "abcd"));
  EXPECT_FALSE(equals_ignoring_case("[", "{"));
  EXPECT_FALSE(equals_ignoring_case("@", "`"));
}

TEST(Text, TrimRemovesSpacesAndTabsAtBothEnds) {
  EXPECT_EQ(trim(" \t a b\t "), "a b");
  EXPECT_EQ(trim("a"), "a");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(trim("\na\r"), "\na\r");
}

TEST(Text, ALongTextLosesItsMiddle) {
  EXPECT_EQ(without_middle("short", 5), "short");
  std::string text = without_middle(cat("first ", std::string(1000, 'x'), "\u00e9 last"), 200);
  EXPECT_LE(text.size(), 200U);
  EXPECT_TRUE(text.starts_with("first xx"));
  EXPECT_TRUE(text.ends_with("\u00e9 last"));
  EXPECT_NE(text.find("\n[873 bytes are left out]\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace errand::text_test
