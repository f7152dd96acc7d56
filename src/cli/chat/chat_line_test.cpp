#include "cli/chat/chat_line.hpp"

#include <gtest/gtest.h>

namespace errand::cli::chat_line_test {
namespace {

using Kind = ChatLine::Kind;

TEST(ChatLineTest, IsAMessageUnlessItStartsWithASlash) {
  EXPECT_EQ(parse_chat_line("Hello /help"), (ChatLine{Kind::message, "Hello /help"}));
  EXPECT_EQ(parse_chat_line("//etc/hosts?"), (ChatLine{Kind::message, "/etc/hosts?"}));
  EXPECT_EQ(parse_chat_line(" /help"), (ChatLine{Kind::message, " /help"}));
  EXPECT_EQ(parse_chat_line(" \t"), ChatLine());
}

TEST(ChatLineTest, ACommandHasWhatFollowsIt) {
  EXPECT_EQ(parse_chat_line("/model"), (ChatLine{Kind::model, ""}));
  EXPECT_EQ(parse_chat_line("/save  a b.md "), (ChatLine{Kind::save, "a b.md"}));
  EXPECT_EQ(parse_chat_line("/exit"), (ChatLine{Kind::quit, ""}));
  EXPECT_EQ(parse_chat_line("/models x"), (ChatLine{Kind::unknown, "/models"}));
  EXPECT_EQ(parse_chat_line("/"), (ChatLine{Kind::unknown, "/"}));
}

TEST(ChatLineTest, ATargetMayBeAtHomeAndReplaced) {
  EXPECT_EQ(parse_save_target("a b.md", "/home/me"), (SaveTarget{"a b.md", false}));
  EXPECT_EQ(parse_save_target("~/a.md --force", "/home/me"), (SaveTarget{"/home/me/a.md", true}));
  EXPECT_EQ(parse_save_target("~/a.md", ""), (SaveTarget{"~/a.md", false}));
  EXPECT_EQ(parse_save_target("", "/home/me"), (SaveTarget{"", false}));
  EXPECT_EQ(parse_save_target("--force", "/home/me"), (SaveTarget{"--force", false}));
}

}  // namespace
}  // namespace errand::cli::chat_line_test
