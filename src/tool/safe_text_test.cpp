#include "tool/safe_text.hpp"

#include <gtest/gtest.h>

namespace errand::safe_text_test {
namespace {

TEST(SafeText, BytesThatAreNotUtf8AreReplacedOneByOne) {
  EXPECT_EQ(to_valid_utf8("a\xFF\xC3(\xE2\x82"),
            "a\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(to_valid_utf8("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(count_invalid_utf8("a\xFF\xC3(\xE2\x82"), 4U);
  EXPECT_EQ(count_invalid_utf8("\xE2\x82\xAC"), 0U);
}

TEST(SafeText, WhatCannotBeSeenIsShownAsAnEscape) {
  EXPECT_EQ(to_visible_line("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(to_visible_line(std::string_view("\x1b[2J\0\x7f", 6)), "\\x1b[2J\\x00\\x7f");
  EXPECT_EQ(to_visible_line("\xC2\x9B"), "\\u{9b}");
  EXPECT_EQ(to_visible_line("x\xE2\x80\xAEy\xE2\x80\x8B"), "x\\u{202e}y\\u{200b}");
  EXPECT_EQ(to_visible_line("\xF3\xA0\x81\x81"), "\\u{e0041}");
  EXPECT_EQ(to_visible_line("\xE2\x82\xAC \xF0\x9F\x98\x80"), "\xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(to_visible_line("\xFF"), "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace errand::safe_text_test
