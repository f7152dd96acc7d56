#include "mcp/server/http_reply.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <string>

namespace errand::mcp::http_reply_test {
namespace {

constexpr std::size_t kMuch = HttpReply::kFairBytes;

class HttpReplyTest : public testing::Test {
 protected:
  static void put(HttpReply& reply, std::size_t bytes) {
    reply.put({.text = std::string(bytes, 'x')});
  }

  asio::io_context io_;
  ReaderBudget readers_{4 * kMuch};
  HttpReply reply_{io_.get_executor(), &readers_};
  ReaderBudget::Share others_{readers_};
};

TEST_F(HttpReplyTest, WhatWaitsForItsReaderCountsUntilItIsTaken) {
  put(reply_, 100);
  put(reply_, 50);
  EXPECT_EQ(readers_.used(), 150U);
  reply_.take_frames();
  EXPECT_EQ(readers_.used(), 0U);
  put(reply_, 100);
  reply_.abandon();
  EXPECT_EQ(readers_.used(), 0U);
}

TEST_F(HttpReplyTest, ALongReplyIsCutOffWhenAllReadersTogetherHoldTooMuch) {
  put(reply_, 2 * kMuch);
  EXPECT_FALSE(reply_.is_cut());
  others_.set(3 * kMuch);
  put(reply_, 1);
  EXPECT_TRUE(reply_.is_cut());
  EXPECT_TRUE(reply_.is_over());
  EXPECT_EQ(readers_.used(), 3 * kMuch);
}

TEST_F(HttpReplyTest, AShortReplyIsNotCutOffForWhatOthersHold) {
  others_.set(5 * kMuch);
  put(reply_, kMuch);
  EXPECT_FALSE(reply_.is_cut());
}

}  // namespace
}  // namespace errand::mcp::http_reply_test
