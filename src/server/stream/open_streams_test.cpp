#include "server/stream/open_streams.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>

#include "support/run_task.hpp"

namespace errand::server::open_streams_test {
namespace {

using State = net::EventFeed::State;

// Has a frame for every read, until it is interrupted.
class Chatter final : public net::EventFeed {
 public:
  explicit Chatter(int& interrupts) : interrupts_(interrupts) {}
  Task<Chunk> read(SteadyTime deadline) override {
    last_deadline = deadline;
    co_return Chunk{.state = interrupts_ == 0 ? State::more : State::broken, .frames = "x"};
  }
  void interrupt() override { ++interrupts_; }

  SteadyTime last_deadline{};

 private:
  int& interrupts_;
};

class OpenStreamsTest : public testing::Test {
 protected:
  State read(net::EventFeed& feed) { return run_task(io_, feed.read(SteadyTime::max())).state; }
  std::unique_ptr<net::EventFeed> open(const char* key, int& interrupts,
                                       SteadyTime expires = SteadyTime::max(),
                                       std::string_view secret = "secret") {
    return streams_.guard(std::make_unique<Chatter>(interrupts), *KeyId::parse(key), secret,
                          expires);
  }

  asio::io_context io_;
  OpenStreams streams_;
  int first_ = 0;
  int second_ = 0;
};

TEST_F(OpenStreamsTest, ARevokedKeyLosesItsStreamsAndNoOthers) {
  auto mine = open("key_a", first_);
  auto theirs = open("key_b", second_);
  EXPECT_EQ(read(*mine), State::more);
  streams_.cut(*KeyId::parse("key_a"));
  EXPECT_EQ(first_, 1);
  EXPECT_EQ(second_, 0);
  EXPECT_EQ(read(*mine), State::broken);
  EXPECT_EQ(read(*theirs), State::more);
}

TEST_F(OpenStreamsTest, ARevokedKeyLosesTheConnectionsThatItsStreamsAreSentOn) {
  auto mine = open("key_a", first_);
  auto theirs = open("key_b", second_);
  int resets = 0;
  mine->on_cut([&resets] { ++resets; });
  theirs->on_cut([] { ADD_FAILURE() << "the stream of another key was cut"; });
  streams_.cut(*KeyId::parse("key_a"));
  EXPECT_EQ(resets, 1);
}

TEST_F(OpenStreamsTest, ARevokedTokenLosesItsStreamsAndNoOthersOfItsClient) {
  auto gone = open("client_a", first_, SteadyTime::max(), "token 1");
  auto good = open("client_a", second_, SteadyTime::max(), "token 2");
  streams_.cut(*KeyId::parse("client_a"), "token 1");
  EXPECT_EQ(read(*gone), State::broken);
  EXPECT_EQ(read(*good), State::more);
  EXPECT_EQ(second_, 0);
}

TEST_F(OpenStreamsTest, AnExpiredKeyReadsNothing) {
  auto feed = open("key_a", first_, std::chrono::steady_clock::now() - milliseconds(1));
  EXPECT_EQ(read(*feed), State::broken);
}

TEST_F(OpenStreamsTest, AClosedStreamIsForgotten) {
  auto feed = open("key_a", first_);
  EXPECT_EQ(streams_.size(), 1U);
  feed.reset();
  EXPECT_EQ(streams_.size(), 0U);
  streams_.cut(*KeyId::parse("key_a"));
  EXPECT_EQ(first_, 0);
}

}  // namespace
}  // namespace errand::server::open_streams_test
