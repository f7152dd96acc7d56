#include "net/client/content_decoder.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <memory>
#include <string>
#include <utility>

#include "async/breath.hpp"
#include "base/text.hpp"
#include "net/client/test_peer.hpp"

namespace errand::net::content_decoder_test {
namespace {

constexpr int kGzip = 15 + 16;
constexpr int kZlib = 15;
constexpr int kRaw = -15;

std::string compress(std::string text, int window) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window, 9, Z_DEFAULT_STRATEGY),
            Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

// The decoded text, or the message of the error, of a body that comes in two pieces.
std::string decode(std::string_view encoding, std::string_view bytes, std::size_t split) {
  auto decoder = ContentDecoder::make(encoding);
  std::string text;
  for (std::string_view piece : {bytes.substr(0, split), bytes.substr(split)}) {
    while (!piece.empty() || (*decoder)->has_more()) {
      auto decoded = (*decoder)->decode(piece);
      if (!decoded) return decoded.error().message();
      EXPECT_LE(decoded->size(), ContentDecoder::kBufferBytes);
      text += *decoded;
    }
  }
  auto finished = (*decoder)->finish();
  return finished ? text : finished.error().message();
}

const std::string kText = "a text, a text, a text that repeats itself";

TEST(ContentDecoder, DecodesHoweverTheBytesAreSplit) {
  struct Form {
    const char* encoding;
    std::string bytes;
  };
  for (const Form& form :
       {Form{"gzip", compress(kText, kGzip)}, Form{"X-GZIP", compress(kText, kGzip)},
        Form{"deflate", compress(kText, kZlib)}, Form{"deflate", compress(kText, kRaw)}}) {
    for (std::size_t split = 0; split <= form.bytes.size(); ++split) {
      ASSERT_EQ(decode(form.encoding, form.bytes, split), kText)
          << form.encoding << " split at " << split;
    }
  }
}

TEST(ContentDecoder, DecodesFilesOneBehindTheOther) {
  EXPECT_EQ(decode("gzip", cat(compress("one ", kGzip), compress("two", kGzip)), 5), "one two");
}

TEST(ContentDecoder, AnEmptyBodyIsFine) {
  EXPECT_EQ(decode("gzip", "", 0), "");
  EXPECT_EQ(decode("deflate", "", 0), "");
  EXPECT_EQ(decode("deflate", compress("", kRaw), 1), "");
}

TEST(ContentDecoder, DataThatEndsTooEarlyIsAnError) {
  std::string gzip = compress(kText, kGzip);
  for (std::size_t count = 1; count < gzip.size(); ++count) {
    ASSERT_EQ(decode("gzip", std::string_view(gzip).substr(0, count), 0),
              "the gzip data of the answer ends too early");
  }
  EXPECT_EQ(decode("deflate", "x", 0), "the deflate data of the answer ends too early");
}

TEST(ContentDecoder, DamagedDataIsAnError) {
  std::string gzip = compress(kText, kGzip);
  gzip[gzip.size() - 6] ^= 1;  // of the checksum
  EXPECT_EQ(decode("gzip", gzip, 3), "the gzip data of the answer is damaged");
  EXPECT_EQ(decode("gzip", "not gzip", 3), "the gzip data of the answer is damaged");
  EXPECT_EQ(decode("gzip", cat(compress("a", kGzip), "rest"), 0),
            "the gzip data of the answer is damaged");
  EXPECT_EQ(decode("deflate", cat(compress("a", kZlib), "rest"), 0),
            "the deflate data of the answer is damaged");
}

TEST(ContentDecoder, WhatGrowsComesOneBufferAtATime) {
  std::string zeros(10'000'000, '\0');
  for (int window : {kGzip, kZlib, kRaw}) {
    std::string small = compress(zeros, window);
    EXPECT_LT(small.size(), 20'000U);
    EXPECT_TRUE(decode(window == kGzip ? "gzip" : "deflate", small, 100) == zeros);
  }
}

TEST(ContentDecoder, WhatAFullBufferLeftBehindComesNext) {
  for (std::size_t more = 0; more < 4000; more += 100) {
    std::string text(ContentDecoder::kBufferBytes + more, 'x');
    ASSERT_TRUE(decode("deflate", compress(text, kRaw), 0) == text) << more;
  }
}

TEST(ContentDecoder, KnowsItsEncodings) {
  EXPECT_EQ(ContentDecoder::make("").value(), nullptr);
  EXPECT_EQ(ContentDecoder::make(" Identity ").value(), nullptr);
  EXPECT_EQ(ContentDecoder::make("br").error().code(), ErrorCode::unsupported);
  EXPECT_EQ(ContentDecoder::make("gzip, gzip").error().message(),
            "the answer has the Content-Encoding gzip, gzip, which was not requested and is "
            "not supported");
}

class DecodedAnswerTest : public test::ClientTest {
 protected:
  std::string answer_with(std::string_view encoding, const std::string& body) {
    test::Peer peer(test::answers(cat("HTTP/1.1 200 OK\r\nContent-Encoding: ", encoding,
                                      "\r\nContent-Length: ", body.size(), "\r\n\r\n", body)));
    return shown(get(peer.url()));
  }
};

TEST_F(DecodedAnswerTest, TheClientGivesOutDecodedBodies) {
  EXPECT_EQ(answer_with("gzip", compress(kText, kGzip)), cat("200 ", kText));
  EXPECT_EQ(answer_with("deflate", compress(kText, kZlib)), cat("200 ", kText));
  EXPECT_EQ(answer_with("gzip", ""), "200 ");
}

TEST_F(DecodedAnswerTest, ACleanEndNeedsTheEndOfTheData) {
  std::string gzip = compress(kText, kGzip);
  gzip.pop_back();
  EXPECT_EQ(answer_with("gzip", gzip), "unavailable");
  EXPECT_EQ(answer_with("br", "x"), "unsupported");
}

TEST_F(DecodedAnswerTest, ABombComesInSmallPieces) {
  std::string small = compress(std::string(10'000'000, 'x'), kGzip);
  test::Peer peer(test::answers_often(
      cat("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ", small.size(), "\r\n\r\n",
          small),
      1));
  auto opened = open(peer.url());
  std::size_t total = 0;
  for (;;) {
    std::string piece = loop_.run(opened.value()->read()).value();
    if (piece.empty()) break;
    ASSERT_LE(piece.size(), ContentDecoder::kBufferBytes);
    total += piece.size();
  }
  EXPECT_EQ(total, 10'000'000U);
  loop_.call([&] {
    opened.value().reset();
    client_.reset();
  });
}

// Who else is at work on the home while an answer is read.
struct Others {
  int turns = 0;
  bool is_over = false;
};

Task<void> take_turns(std::shared_ptr<Others> others) {
  while (!others->is_over) {
    ++others->turns;
    co_await let_others_run();
  }
}

// The most bytes that were read while nobody else had a turn.
Task<std::size_t> longest_stretch(ClientStream* stream) {
  auto others = std::make_shared<Others>();
  asio::co_spawn(co_await asio::this_coro::executor, take_turns(others), asio::detached);
  std::size_t longest = 0;
  std::size_t stretch = 0;
  for (int turns = -1;;) {
    auto piece = co_await stream->read();
    if (!piece || piece->empty()) break;
    if (std::exchange(turns, others->turns) != others->turns) stretch = 0;
    stretch += piece->size();
    longest = std::max(longest, stretch);
  }
  others->is_over = true;
  co_return longest;
}

TEST_F(DecodedAnswerTest, OthersHaveTheirTurnWhileABombIsDecoded) {
  std::string small = compress(std::string(10'000'000, 'x'), kGzip);
  test::Peer peer(test::answers_often(
      cat("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ", small.size(), "\r\n\r\n",
          small),
      1));
  auto opened = open(peer.url());
  EXPECT_LE(loop_.run(longest_stretch(opened.value().get())), 2 * kBytesInABreath);
  loop_.call([&] {
    opened.value().reset();
    client_.reset();
  });
}

}  // namespace
}  // namespace errand::net::content_decoder_test
