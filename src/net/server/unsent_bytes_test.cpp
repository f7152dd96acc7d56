#include "net/server/unsent_bytes.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace errand::net::test::unsent_bytes_test {
namespace {

struct UnsentBytesTest : testing::Test {
  UnsentBytes all{100};
  std::string given_up;  // the names of the clients, in order

  std::function<void()> note(char name) {
    return [this, name] { given_up += name; };
  }
};

TEST_F(UnsentBytesTest, WhoeverHasTakenNothingForTheLongestIsGivenUp) {
  UnsentBytes::Share a(all, note('a'));
  UnsentBytes::Share b(all, note('b'));
  UnsentBytes::Share c(all, note('c'));
  a.set(40);
  b.set(40);
  a.set(20);  // it has taken some
  EXPECT_EQ(all.used(), 60U);
  c.set(41);
  EXPECT_EQ(given_up, "b");
  EXPECT_EQ(all.used(), 61U);
  c.set(90);
  EXPECT_EQ(given_up, "ba");
  EXPECT_EQ(all.used(), 90U);
}

TEST_F(UnsentBytesTest, AnAnswerThatIsLargerThanAllMayHaveIsSentAlone) {
  UnsentBytes::Share a(all, note('a'));
  a.set(1000);
  EXPECT_EQ(given_up, "");
  UnsentBytes::Share b(all, note('b'));
  b.set(1);
  EXPECT_EQ(given_up, "a");
  EXPECT_EQ(all.used(), 1U);
}

TEST_F(UnsentBytesTest, WhatHasBeenSentOrGivenUpCountsNoMore) {
  std::optional<UnsentBytes::Share> a;
  a.emplace(all, note('a'));
  a->set(60);
  UnsentBytes::Share b(all, note('b'));
  b.set(60);
  a->set(60);  // on its way out
  EXPECT_EQ(all.used(), 60U);
  a.reset();
  EXPECT_EQ(all.used(), 60U);
  b.set(0);
  EXPECT_EQ(all.used(), 0U);
  EXPECT_EQ(given_up, "a");
}

}  // namespace
}  // namespace errand::net::test::unsent_bytes_test
