#include "tool/builtin/web/charset.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace errand::charset_test {
namespace {

TEST(ContentType, HasATypeAndACharset) {
  EXPECT_EQ(ContentType::parse("Text/HTML; charset=\"UTF-8\"; x=y"),
            (ContentType{.media = "text/html", .charset = "utf-8"}));
  EXPECT_EQ(ContentType::parse("text/plain;charset=iso-8859-1"),
            (ContentType{.media = "text/plain", .charset = "iso-8859-1"}));
  EXPECT_EQ(ContentType::parse(" application/json "),
            (ContentType{.media = "application/json", .charset = ""}));
  EXPECT_EQ(ContentType::parse(""), (ContentType{}));
}

TEST(DeclaredCharset, IsThatOfTheMetaElement) {
  EXPECT_EQ(declared_charset("<html><META Charset='Shift_JIS'>"), "shift_jis");
  EXPECT_EQ(declared_charset("<meta name=a><meta http-equiv=Content-Type "
                             "content=\"text/html; charset=windows-1251\">"),
            "windows-1251");
  EXPECT_EQ(declared_charset("<meta charset = utf-16>"), "utf-8");
  EXPECT_EQ(declared_charset("<p>charset=latin1"), "");
  EXPECT_EQ(declared_charset("<meta charset"), "");
}

TEST(ToUtf8, KnowsTheEncodingsOfTheWeb) {
  EXPECT_EQ(to_utf8("gr\xFC\xDF \x80", "iso-8859-1"), "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC");
  EXPECT_EQ(to_utf8("\x93hi\x94", "windows-1252"), "\xE2\x80\x9Chi\xE2\x80\x9D");
  EXPECT_EQ(to_utf8("\xCF\xF0\xE8", "Windows-1251"), "\xD0\x9F\xD1\x80\xD0\xB8");
  EXPECT_EQ(to_utf8("\x93\xFA\x96\x7B", "shift_jis"), "\xE6\x97\xA5\xE6\x9C\xAC");
  EXPECT_EQ(to_utf8("\xC4\xE3\xBA\xC3", "gb2312"), "\xE4\xBD\xA0\xE5\xA5\xBD");
  EXPECT_EQ(to_utf8(std::string_view("h\0i\0", 4), "utf-16le"), "hi");
}

TEST(ToUtf8, AMarkOfByteOrderDecides) {
  EXPECT_EQ(to_utf8("\xEF\xBB\xBF\xC3\xBC", "iso-8859-1"), "\xC3\xBC");
  EXPECT_EQ(to_utf8(std::string_view("\xFE\xFF\0h\0i", 6), ""), "hi");
  EXPECT_EQ(to_utf8(std::string_view("\xFF\xFEh\0i\0", 6), "utf-8"), "hi");
}

TEST(ToUtf8, WithoutANameItIsUtf8IfItCanBe) {
  EXPECT_EQ(to_utf8("\xC3\xBC", ""), "\xC3\xBC");
  EXPECT_EQ(to_utf8("\xFC", ""), "\xC3\xBC");
  EXPECT_EQ(to_utf8("\xFC", "no-such-charset"), "\xC3\xBC");
  EXPECT_EQ(to_utf8("\xFC", "utf-7"), "\xC3\xBC");
}

TEST(ToUtf8, WhatMeansNothingIsReplaced) {
  EXPECT_EQ(to_utf8("a\xFFz", "utf-8"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(to_utf8(std::string_view("a\0b", 3), "utf-8"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(to_utf8("a\xFF\xFF", "euc-jp"), "a\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(to_utf8("a\x93", "shift_jis"), "a\xEF\xBF\xBD");
  EXPECT_EQ(utf8_length(to_utf8(std::string(1'000'000, '\0'), "")), 1'000'000U);
}

}  // namespace
}  // namespace errand::charset_test
