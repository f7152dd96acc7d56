#include "llm/message_list.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "llm/model.hpp"

namespace errand::llm::message_list_test {
namespace {

using Texts = std::vector<std::string>;

std::vector<MessagePtr> said(const Texts& texts) {
  std::vector<Message> messages;
  for (const std::string& text : texts) messages.emplace_back().text = text;
  return share_messages(std::move(messages));
}

Texts texts_of(const MessageList& list) {
  Texts texts;
  for (const MessagePtr& message : list) texts.push_back(message->text);
  return texts;
}

TEST(MessageList, BeginsEmpty) {
  MessageList list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(texts_of(list), Texts());
  list.append({});
  EXPECT_EQ(texts_of(list), Texts());
}

TEST(MessageList, CountsWhatTheModelSaid) {
  Message answer{.role = Role::assistant};
  MessageList list(share_messages({answer, {}, answer}));
  list.append(share_messages({{}, answer}));
  EXPECT_EQ(list.answers(), 3U);
}

TEST(MessageList, CopiesThatGrowApartShareOnlyTheirBeginning) {
  MessageList one(said({"a", "b", "c", "d"}));
  MessageList other = one;
  one.append(said({"e"}));
  other.append(said({"f", "g", "h"}));
  EXPECT_EQ(texts_of(one), (Texts{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(texts_of(other), (Texts{"a", "b", "c", "d", "f", "g", "h"}));
  EXPECT_EQ(one.front(), other.front());
  EXPECT_EQ(other.back()->text, "h");
}

// However a list came to be, its messages are found by their place.
TEST(MessageList, KeepsItsOrderWhateverIsAddedAtOnce) {
  MessageList list;
  Texts all;
  for (const std::size_t at_once : std::vector<std::size_t>{2, 1, 5, 2, 9, 1, 1, 40, 2, 3, 2, 2}) {
    Texts added;
    for (std::size_t i = 0; i < at_once; ++i) added.push_back(cat("m", all.size() + i));
    all.insert(all.end(), added.begin(), added.end());
    list.append(said(added));
    ASSERT_EQ(texts_of(list), all);
    ASSERT_EQ(list.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(list[i]->text, all[i]);
  }
}

}  // namespace
}  // namespace errand::llm::message_list_test
