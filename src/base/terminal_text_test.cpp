#include "base/terminal_text.hpp"

#include <gtest/gtest.h>

namespace errand::terminal_text_test {
namespace {

TEST(TerminalText, KeepsTextLineFeedsAndTabs) {
  EXPECT_EQ(clean_text("a\tb\nGrüße, 世界 🙂\n"), "a\tb\nGrüße, 世界 🙂\n");
}

TEST(TerminalText, ShowsEscapeSequencesInsteadOfSendingThem) {
  EXPECT_EQ(clean_text("\x1b[2J\x1b]0;title\x07"), "\\x1b[2J\\x1b]0;title\\x07");
  EXPECT_EQ(clean_text(std::string_view("\0\x08\x7f", 3)), "\\x00\\x08\\x7f");
}

TEST(TerminalText, ShowsC1ControlsInsteadOfSendingThem) {
  EXPECT_EQ(clean_text("\xC2\x9B"
                       "31m\xC2\x80\xC2\xA0"),
            "\\x9b31m\\x80\xC2\xA0");
}

TEST(TerminalText, DropsCarriageReturns) {
  EXPECT_EQ(clean_text("real\rfake\r\n"), "realfake\n");
}

TEST(TerminalText, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(clean_text("a\x9b"
                       "31m\xFF\xC0\x80"),
            "a\xEF\xBF\xBD"
            "31m\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(TerminalText, AOneLineFormHasNoBreaksAndAnEnd) {
  EXPECT_EQ(clean_line("two\nlines\tand \x1b[0m", 80), "two lines and \\x1b[0m");
  EXPECT_EQ(clean_line("世界世界世界", 4), "世界世界...");
  EXPECT_EQ(clean_line("abcd", 4), "abcd");
  EXPECT_EQ(clean_line("\x1b\x1b\x1b\x1b", 4), "\\x1b...");
}

TEST(TerminalText, AOneLineFormDoesNotTurnTheDirectionOfALine) {
  EXPECT_EQ(clean_line("rm \u202Etxt.exe\u2066!", 80), "rm \\u202etxt.exe\\u2066!");
  EXPECT_EQ(clean_text("\u202Eabc"), "\u202Eabc");
}

TEST(TerminalText, JsonKeepsItsMeaningWithoutRawControls) {
  EXPECT_EQ(escape_json_controls("{\"a\":\"\x7f\xC2\x9B\xC2\xA0世\"}"),
            "{\"a\":\"\\u007f\\u009b\xC2\xA0世\"}");
}

TEST(TerminalText, TellsUtf8FromOtherBytes) {
  EXPECT_TRUE(is_utf8("Grüße \xF4\x8F\xBF\xBF"));
  EXPECT_FALSE(is_utf8("\xED\xA0\x80"));      // a surrogate
  EXPECT_FALSE(is_utf8("\xF4\x90\x80\x80"));  // beyond the last code point
  EXPECT_FALSE(is_utf8("\xE0\x80\x80"));      // longer than needed
  EXPECT_FALSE(is_utf8("cut \xE4\xB8"));      // unfinished
}

}  // namespace
}  // namespace errand::terminal_text_test
