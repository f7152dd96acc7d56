#include "llm/fake/fake_feed.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "support/run_task.hpp"

namespace errand::llm::fake_feed_test {
namespace {

using State = net::EventFeed::State;
using Steps = std::vector<FakeFeed::Step>;
constexpr milliseconds kHour{3'600'000};

class FakeFeedTest : public testing::Test {
 protected:
  // "state frames" of one read that does not wait.
  std::string read(FakeFeed& feed) {
    net::EventFeed::Chunk chunk = run_task(io_, feed.read(SteadyTime::min()));
    switch (chunk.state) {
      case State::more: return cat("more ", chunk.frames);
      case State::idle: return cat("idle ", chunk.frames);
      case State::ended: return cat("ended ", chunk.frames);
      case State::broken: return cat("broken ", chunk.frames);
    }
    return {};
  }

  asio::io_context io_{1};
};

TEST_F(FakeFeedTest, WhatIsDueComesAtOnce) {
  FakeFeed feed(Steps{{.frames = "a"}, {.frames = "b"}, {.frames = "c"}}, FakeFeed::End::clean,
                io_.get_executor());
  EXPECT_EQ(read(feed), "ended abc");
}

TEST_F(FakeFeedTest, ADelayHoldsTheRestBack) {
  FakeFeed feed(Steps{{.frames = "a"}, {.delay = kHour, .frames = "b"}}, FakeFeed::End::clean,
                io_.get_executor());
  EXPECT_EQ(read(feed), "more a");
  EXPECT_EQ(read(feed), "idle ");
}

TEST_F(FakeFeedTest, ADelayPasses) {
  FakeFeed feed(Steps{{.delay = milliseconds(1), .frames = "a"}}, FakeFeed::End::clean,
                io_.get_executor());
  net::EventFeed::Chunk chunk = run_task(io_, feed.read(SteadyTime::max()));
  EXPECT_EQ(chunk.frames, "a");
  EXPECT_EQ(chunk.state, State::ended);
}

TEST_F(FakeFeedTest, WhatIsReadLateDoesNotDelayTheRest) {
  const milliseconds late{-5};
  FakeFeed feed(Steps{{.delay = late, .frames = "a"}, {.delay = milliseconds(2), .frames = "b"}},
                FakeFeed::End::clean, io_.get_executor());
  EXPECT_EQ(read(feed), "ended ab");
}

TEST_F(FakeFeedTest, ACutComesAfterWhatWasSent) {
  FakeFeed feed(Steps{{.frames = "a"}}, FakeFeed::End::broken, io_.get_executor());
  EXPECT_EQ(read(feed), "more a");
  EXPECT_EQ(read(feed), "broken ");
  FakeFeed nothing(Steps(), FakeFeed::End::broken, io_.get_executor());
  EXPECT_EQ(read(nothing), "broken ");
}

TEST_F(FakeFeedTest, AnInterruptEndsADelay) {
  FakeFeed feed(Steps{{.delay = kHour, .frames = "a"}}, FakeFeed::End::clean, io_.get_executor());
  asio::post(io_, [&feed] { feed.interrupt(); });
  net::EventFeed::Chunk chunk = run_task(io_, feed.read(SteadyTime::max()));
  EXPECT_EQ(chunk.state, State::broken);
}

}  // namespace
}  // namespace errand::llm::fake_feed_test
