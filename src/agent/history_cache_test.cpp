#include "agent/history_cache.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/text.hpp"

namespace errand::agent::history_cache_test {
namespace {

using Texts = std::vector<std::string>;

SessionKey session(int number) {
  return {.workspace = *WorkspaceSlug::parse("default"),
          .session = *SessionId::parse(cat("sess_", number))};
}

llm::MessagePtr message(std::string text) {
  Message made;
  made.text = std::move(text);
  return std::make_shared<const Message>(std::move(made));
}

struct HistoryCacheTest : ::testing::Test {
  // As a run does that reads what is missing; each entry is one message, named by its number.
  void read(int number, std::int64_t until) {
    const std::int64_t after = cache.find(session(number), until).entries;
    add(number, after, until);
  }
  void add(int number, std::int64_t after, std::int64_t until) {
    std::vector<llm::MessagePtr> messages;
    for (std::int64_t n = after + 1; n <= until; ++n) messages.push_back(message(cat(n)));
    const HistorySize added{.entries = until - after, .bytes = 10 * (until - after)};
    Past past = cache.find(session(number), after).past;
    past.append(messages);
    cache.extend(session(number), after, added, std::move(past));
  }
  Texts found(int number, std::int64_t until) {
    Texts texts;
    const Past past = cache.find(session(number), until).past;
    for (const auto& one : past.messages()) texts.push_back(one->text);
    return texts;
  }

  HistoryCache cache{4 * (HistoryCache::kMessageBytes + 1)};
};

TEST_F(HistoryCacheTest, AHistoryThatHasGrownIsKnownFromItsBeginning) {
  EXPECT_EQ(found(1, 9), Texts());
  read(1, 2);
  EXPECT_EQ(found(1, 9), (Texts{"1", "2"}));
  read(1, 4);
  EXPECT_EQ(found(1, 4), (Texts{"1", "2", "3", "4"}));
  EXPECT_EQ(cache.bytes(), 4 * (HistoryCache::kMessageBytes + 1));
  EXPECT_EQ(cache.size_of(session(1)), (HistorySize{.entries = 4, .bytes = 40}));
  EXPECT_EQ(cache.size_of(session(2)), HistorySize());
}

TEST_F(HistoryCacheTest, AShorterBeginningThanTheKnownOneIsNotCutFromIt) {
  read(1, 3);
  EXPECT_EQ(found(1, 2), Texts());
  read(1, 2);
  EXPECT_EQ(found(1, 9), (Texts{"1", "2", "3"}));
}

TEST_F(HistoryCacheTest, TheHistoryUsedLongestAgoIsForgottenFirst) {
  read(1, 2);
  read(2, 1);
  read(1, 2);
  read(3, 2);
  EXPECT_EQ(found(2, 9), Texts());
  EXPECT_EQ(found(1, 9), (Texts{"1", "2"}));
  EXPECT_EQ(found(3, 9), (Texts{"1", "2"}));
}

TEST_F(HistoryCacheTest, AHistoryThatIsTooLongIsNotKept) {
  read(1, 5);
  EXPECT_EQ(found(1, 9), Texts());
  EXPECT_EQ(cache.bytes(), 0U);
}

TEST_F(HistoryCacheTest, WhatIsToldTwiceOrWouldLeaveAGapIsDropped) {
  add(1, 0, 2);
  add(1, 0, 1);
  add(1, 3, 4);
  EXPECT_EQ(found(1, 9), (Texts{"1", "2"}));
  add(2, 1, 2);
  EXPECT_EQ(found(2, 9), Texts());
}

}  // namespace
}  // namespace errand::agent::history_cache_test
