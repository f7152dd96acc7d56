#include "server/rate_limiter.hpp"

#include <gtest/gtest.h>

namespace errand::server::rate_limiter_test {
namespace {

class RateLimiterTest : public testing::Test {
 protected:
  RateLimiter::Verdict take(const char* key = "key_a") {
    return limiter_.take(*KeyId::parse(key), now_);
  }
  int allowed(int requests) {
    int count = 0;
    for (int i = 0; i < requests; ++i) count += take().is_allowed ? 1 : 0;
    return count;
  }

  RateLimiter limiter_{3};
  SteadyTime now_ = SteadyTime(seconds(1000));
};

TEST_F(RateLimiterTest, AllowsItsShareAndSaysWhatIsLeft) {
  EXPECT_EQ(take().remaining, 2U);
  EXPECT_EQ(take().remaining, 1U);
  auto last = take();
  EXPECT_TRUE(last.is_allowed);
  EXPECT_EQ(last.remaining, 0U);
  EXPECT_EQ(last.limit, 3U);
  EXPECT_FALSE(take().is_allowed);
}

TEST_F(RateLimiterTest, TellsWithoutCountingWhetherARequestWouldBeAllowed) {
  const KeyId key = *KeyId::parse("key_a");
  EXPECT_TRUE(limiter_.would_allow(key, now_));
  EXPECT_EQ(allowed(2), 2);
  EXPECT_TRUE(limiter_.would_allow(key, now_));
  EXPECT_TRUE(limiter_.would_allow(key, now_));
  EXPECT_EQ(allowed(2), 1);
  EXPECT_FALSE(limiter_.would_allow(key, now_));
  EXPECT_TRUE(limiter_.would_allow(*KeyId::parse("key_b"), now_));
  EXPECT_TRUE(limiter_.would_allow(key, now_ + seconds(60)));
}

TEST_F(RateLimiterTest, SaysWhenToComeBack) {
  take();
  now_ += seconds(20);
  allowed(2);
  auto refused = take();
  EXPECT_FALSE(refused.is_allowed);
  EXPECT_EQ(refused.reset_after, seconds(40));
  now_ += seconds(39);
  EXPECT_FALSE(take().is_allowed);
  now_ += seconds(1);
  EXPECT_TRUE(take().is_allowed);
  EXPECT_FALSE(take().is_allowed);
}

TEST_F(RateLimiterTest, GivesNoSecondShareAtTheTurnOfAMinute) {
  now_ = SteadyTime(seconds(1019));  // a second before a minute is full
  EXPECT_EQ(allowed(5), 3);
  now_ += seconds(2);
  EXPECT_EQ(allowed(5), 0);
  now_ += seconds(60);
  EXPECT_EQ(allowed(5), 3);
}

TEST_F(RateLimiterTest, RefusedRequestsDoNotCount) {
  EXPECT_EQ(allowed(1000), 3);
  now_ += seconds(60);
  EXPECT_EQ(allowed(1000), 3);
}

TEST_F(RateLimiterTest, KeysDoNotShare) {
  EXPECT_EQ(allowed(5), 3);
  EXPECT_TRUE(take("key_b").is_allowed);
}

TEST_F(RateLimiterTest, ALongPauseEmptiesTheWindow) {
  EXPECT_EQ(allowed(5), 3);
  now_ += seconds(100'000);
  EXPECT_EQ(allowed(5), 3);
}

}  // namespace
}  // namespace errand::server::rate_limiter_test
