#include "agent/fold/past.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace errand::agent::past_test {
namespace {

using Texts = std::vector<std::string>;

std::vector<llm::MessagePtr> said(const Texts& texts) {
  std::vector<Message> messages;
  for (const std::string& text : texts) messages.emplace_back().text = text;
  return llm::share_messages(std::move(messages));
}

Texts texts_of(const Past& past) {
  Texts texts;
  for (const llm::MessagePtr& message : past.messages()) texts.push_back(message->text);
  return texts;
}

TEST(Past, NothingWasSaidAtFirst) {
  const Past past;

  EXPECT_EQ(texts_of(past), Texts());
  EXPECT_EQ(past.size(), 0U);
  EXPECT_EQ(past.bytes(), 0U);
}

TEST(Past, ACopyGrowsAndTheOthersStay) {
  Past past;
  past.append(said({"a", "bc"}));
  const Past earlier = past;

  past.append(said({"def"}));

  EXPECT_EQ(texts_of(past), (Texts{"a", "bc", "def"}));
  EXPECT_EQ(past.bytes(), 6U);
  EXPECT_EQ(texts_of(earlier), (Texts{"a", "bc"}));
  EXPECT_EQ(earlier.bytes(), 3U);
}

TEST(Past, CopiesThatGrowApartShareOnlyTheirBeginning) {
  Past one;
  one.append(said({"a"}));
  Past other = one;

  one.append(said({"b"}));
  other.append(said({"c", "d"}));
  one.append(said({"e"}));

  EXPECT_EQ(texts_of(one), (Texts{"a", "b", "e"}));
  EXPECT_EQ(texts_of(other), (Texts{"a", "c", "d"}));
  EXPECT_EQ(one.messages()[0], other.messages()[0]);
}

TEST(Past, ItCountsTheTextThatIsNoText) {
  Message message;
  message.text = "1";
  message.provider_blocks = {"22"};
  message.calls.emplace_back().arguments = "333";
  message.results.emplace_back().text = "4444";
  Past past;

  past.append(std::vector{std::make_shared<const Message>(std::move(message))});

  EXPECT_EQ(past.bytes(), 10U);
}

}  // namespace
}  // namespace errand::agent::past_test
