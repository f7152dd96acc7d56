#include "json/schema_cache.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/text.hpp"
#include "json/parse.hpp"

namespace errand::json::schema_cache_test {
namespace {

std::string at_most(int maximum) {
  return cat(R"({"maximum":)", maximum, "}");
}

TEST(SchemaCache, TheSameTextIsCompiledOnce) {
  SchemaCache cache;
  auto first = cache.get(at_most(1));
  ASSERT_TRUE(first);
  EXPECT_EQ(*cache.get(at_most(1)), *first);
  EXPECT_NE(*cache.get(at_most(2)), *first);
  EXPECT_EQ(cache.size(), 2U);
}

TEST(SchemaCache, AnObjectIsKnownByItsText) {
  SchemaCache cache;
  auto first = cache.get(Object{{"maximum", 1}});
  ASSERT_TRUE(first);
  EXPECT_EQ(*cache.get(at_most(1)), *first);
}

// Nobody changes a shared schema. A change here shows that its text is not written again.
TEST(SchemaCache, ASharedObjectIsKnownByItsAddress) {
  SchemaCache cache;
  auto schema = std::make_shared<Object>(Object{{"maximum", 1}});
  auto first = cache.get(schema);
  ASSERT_TRUE(first);
  (*schema)["maximum"] = 2;
  EXPECT_EQ(*cache.get(schema), *first);
  EXPECT_EQ(*cache.get(at_most(1)), *first);
  EXPECT_EQ(cache.size(), 1U);
}

TEST(SchemaCache, SharedObjectsWithTheSameTextShareTheirSchema) {
  SchemaCache cache;
  auto one = std::make_shared<const Object>(Object{{"maximum", 1}});
  auto other = std::make_shared<const Object>(Object{{"maximum", 1}});
  auto first = cache.get(one);
  ASSERT_TRUE(first);
  EXPECT_EQ(*cache.get(other), *first);
  EXPECT_EQ(*cache.get(one), *first);
}

TEST(SchemaCache, AnObjectAtTheAddressOfADeadOneIsAnother) {
  SchemaCache cache;
  std::optional<Object> place(Object{{"maximum", 1}});
  std::shared_ptr<const Object> schema(&*place, [](const Object*) {});
  ASSERT_TRUE(cache.get(schema));
  schema.reset();
  place.emplace(Object{{"maximum", 2}});
  schema.reset(&*place, [](const Object*) {});
  EXPECT_TRUE((*cache.get(schema))->accepts(2));
  EXPECT_TRUE((*cache.get(schema))->accepts(2));
  EXPECT_FALSE((*cache.get(at_most(1)))->accepts(2));
}

TEST(SchemaCache, ATextKeepsOnlyTheAddressOfTheObjectThatWasAskedForLast) {
  SchemaCache cache;
  std::optional<Object> place(Object{{"maximum", 1}});
  std::shared_ptr<const Object> schema(&*place, [](const Object*) {});
  auto twin = std::make_shared<const Object>(Object{{"maximum", 1}});
  ASSERT_TRUE(cache.get(schema));
  ASSERT_TRUE(cache.get(twin));
  schema.reset();
  place.emplace(Object{{"maximum", 2}});
  schema.reset(&*place, [](const Object*) {});
  EXPECT_TRUE((*cache.get(schema))->accepts(2));
}

TEST(SchemaCache, AForgottenSharedObjectIsCompiledAgain) {
  SchemaCache cache({}, {.entries_max = 1});
  auto schema = std::make_shared<const Object>(Object{{"maximum", 1}});
  auto first = cache.get(schema);
  ASSERT_TRUE(first);
  ASSERT_TRUE(cache.get(at_most(2)));
  EXPECT_NE(*cache.get(schema), *first);
  EXPECT_FALSE((*cache.get(schema))->accepts(2));
}

TEST(SchemaCache, ASharedObjectThatWasUsedLastIsForgottenLast) {
  SchemaCache cache({}, {.entries_max = 2});
  auto schema = std::make_shared<const Object>(Object{{"maximum", 1}});
  auto first = cache.get(schema);
  ASSERT_TRUE(first);
  ASSERT_TRUE(cache.get(at_most(2)));
  EXPECT_EQ(*cache.get(schema), *first);
  ASSERT_TRUE(cache.get(at_most(3)));
  EXPECT_EQ(*cache.get(at_most(1)), *first);
}

TEST(SchemaCache, WhetherASharedObjectIsPlainIsLookedAtOnce) {
  SchemaCache cache;
  auto plain = std::make_shared<Object>(Object{{"maximum", 1}});
  auto other = std::make_shared<const Object>(Object{{"pattern", "a"}});
  ASSERT_TRUE(cache.get(plain));
  EXPECT_TRUE(cache.is_plain(plain));
  EXPECT_FALSE(cache.is_plain(other));
  (*plain)["pattern"] = "a";
  EXPECT_TRUE(cache.is_plain(plain));
}

TEST(SchemaCache, WhatWasUsedLongestAgoIsForgottenFirst) {
  SchemaCache cache({}, {.entries_max = 2});
  auto one = *cache.get(at_most(1));
  auto two = *cache.get(at_most(2));
  EXPECT_EQ(*cache.get(at_most(1)), one);
  EXPECT_TRUE(cache.get(at_most(3)));
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(*cache.get(at_most(1)), one);
  EXPECT_NE(*cache.get(at_most(2)), two);
}

TEST(SchemaCache, WhatIsForgottenStaysUsable) {
  SchemaCache cache({}, {.entries_max = 1});
  auto one = *cache.get(at_most(1));
  EXPECT_TRUE(cache.get(at_most(2)));
  EXPECT_TRUE(one->accepts(1));
  EXPECT_FALSE(one->accepts(2));
}

TEST(SchemaCache, BytesAreLimitedToo) {
  std::size_t each = (*SchemaCache().get(at_most(1)))->bytes() + at_most(1).size();
  SchemaCache cache({}, {.bytes_max = 3 * each});
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(cache.get(at_most(i)));
  EXPECT_EQ(cache.size(), 3U);
}

TEST(SchemaCache, ASchemaThatIsLargerThanTheCacheIsNotKept) {
  SchemaCache cache({}, {.bytes_max = 10});
  auto schema = cache.get(at_most(1));
  ASSERT_TRUE(schema);
  EXPECT_TRUE((*schema)->accepts(1));
  EXPECT_EQ(cache.size(), 0U);
}

TEST(SchemaCache, ASchemaThatCannotBeCompiledIsKnownForThat) {
  SchemaCache cache;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(cache.get(R"({"type":5})").error().pointer(), "/type");
    EXPECT_EQ(cache.size(), 1U);
  }
  EXPECT_EQ(cache.get("{").error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(cache.size(), 1U);
}

TEST(SchemaCache, OptionsHoldForEverySchema) {
  SchemaCache cache({.formats = Formats::check});
  EXPECT_FALSE((*cache.get(R"({"format":"ipv4"})"))->accepts("here"));
}

TEST(SchemaCache, ThreadsThatAskAtTheSameTimeGetTheSameSchema) {
  constexpr int kThreads = 4;
  constexpr int kTexts = 50;
  SchemaCache cache;
  std::vector<std::vector<CompiledSchemaPtr>> got(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : got) {
    threads.emplace_back([&cache, &mine] {
      for (int i = 0; i < kTexts; ++i) mine.push_back(*cache.get(at_most(i)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : got) EXPECT_EQ(mine, got.front());
  EXPECT_EQ(cache.size(), static_cast<std::size_t>(kTexts));
}

TEST(SchemaCache, ThreadsMayForgetWhatOthersUse) {
  SchemaCache cache({}, {.entries_max = 2});
  std::vector<std::thread> threads;
  std::vector<int> accepted(4);
  for (int& mine : accepted) {
    threads.emplace_back([&cache, &mine] {
      for (int i = 0; i < 100; ++i) mine += (*cache.get(at_most(i % 5)))->accepts(i % 5);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(accepted, std::vector<int>(4, 100));
}

}  // namespace
}  // namespace errand::json::schema_cache_test
