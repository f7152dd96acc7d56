#include "net/server/request_reader.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace errand::net::request_reader_test {
namespace {

class RequestReaderTest : public testing::Test {
 protected:
  static void put(RequestReader& reader, std::string_view bytes) {
    std::span<char> room = reader.prepare();
    ASSERT_GE(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), bytes.size());
    reader.commit(bytes.size());
  }

  // Every request that these pieces hold, or the reason for the refusal, in lines.
  std::string read(const std::vector<std::string_view>& pieces) {
    RequestReader reader(limits_, budget_, ids_);
    std::string seen;
    for (std::string_view piece : pieces) {
      put(reader, piece);
      for (;;) {
        auto state = reader.advance();
        if (!state) return seen + state.error().reason();
        if (*state != RequestReader::State::whole) break;
        ReceivedRequest received = reader.take();
        append(seen, to_string(received.request.method), " ", received.request.path, " ",
               received.request.header("k"), " ", received.request.body, "\n");
      }
    }
    return seen;
  }
  void expect_read(std::string_view bytes, std::string_view expected) {
    for (std::size_t split = 0; split <= bytes.size(); ++split) {
      ASSERT_EQ(read({bytes.substr(0, split), bytes.substr(split)}), expected)
          << "split at " << split;
    }
    std::vector<std::string_view> single;
    for (std::size_t i = 0; i < bytes.size(); ++i) single.push_back(bytes.substr(i, 1));
    EXPECT_EQ(read(single), expected) << "byte by byte";
  }

  ServerLimits limits_;
  BodyBudget budget_{1000, 1000};
  RequestIds ids_;
};

TEST_F(RequestReaderTest, ReadsRequestsHoweverTheyAreSplit) {
  expect_read(
      "GET /a HTTP/1.1\r\nHost: x\r\nK: v w\r\n\r\n"
      "\r\nPOST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
      "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n0\r\n\r\n"
      "GET /d HTTP/1.0\r\n\r\n",
      "GET /a v w \nPOST /b  abc\nPOST /c  de\nGET /d  \n");
}

TEST_F(RequestReaderTest, TrailersAreNotHeaders) {
  expect_read(
      "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nK: forged\r\n\r\n",
      "POST /c  \n");
}

TEST_F(RequestReaderTest, RefusesHoweverItIsSplit) {
  expect_read("POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz", "bad_request");
  expect_read(
      cat("POST /c HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n", std::string(1001, 'x')),
      "overloaded");
  expect_read("POST /c HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n",
              "body_too_large");
}

TEST_F(RequestReaderTest, GivesItsShareOfTheBudgetBack) {
  {
    RequestReader reader(limits_, budget_, ids_);
    put(reader,
        cat("POST /c HTTP/1.1\r\nHost: x\r\nContent-Length: 601\r\n\r\n", std::string(600, 'x')));
    ASSERT_TRUE(reader.advance());
    EXPECT_EQ(budget_.used(), 600U);
  }
  EXPECT_EQ(budget_.used(), 0U);
}

}  // namespace
}  // namespace errand::net::request_reader_test
