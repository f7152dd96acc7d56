#include "net/chunk_decoder.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/text.hpp"

namespace errand::net::chunk_decoder_test {
namespace {

// "data|rest" of a body that is whole, "data..." of one that is not, or the code of the error.
std::string decode(std::string_view bytes, std::size_t split) {
  ChunkDecoder decoder;
  std::string data;
  std::size_t total = 0;
  for (std::string_view piece : {bytes.substr(0, split), bytes.substr(split)}) {
    auto used = decoder.decode(piece, data);
    if (!used) return std::string(to_string(used.error().code()));
    total += *used;
  }
  return decoder.done() ? cat(data, "|", bytes.substr(total)) : cat(data, "...");
}

void expect_decoded(std::string_view bytes, std::string_view expected) {
  for (std::size_t split = 0; split <= bytes.size(); ++split) {
    ASSERT_EQ(decode(bytes, split), expected) << bytes << " split at " << split;
  }
}

TEST(ChunkDecoder, JoinsChunksHoweverTheyAreSplit) {
  expect_decoded("0\r\n\r\n", "|");
  expect_decoded("3\r\nabc\r\nA\r\n0123456789\r\n00\r\n\r\nGET", "abc0123456789|GET");
  expect_decoded("3\r\na\r\n\r\n0\r\n\r\n", "a\r\n|");
}

TEST(ChunkDecoder, ReadsOverExtensionsAndTrailers) {
  expect_decoded("3;a=b;c=\"d\"\r\nabc\r\n0;e\r\nX: y\r\nZ: w\r\n\r\nrest", "abc|rest");
  expect_decoded("3 \t;a\r\nabc\r\n0\r\n\r\n", "abc|");
}

TEST(ChunkDecoder, WaitsForTheRest) {
  expect_decoded("3\r\nab", "ab...");
  expect_decoded("3\r\nabc\r\n0\r\n", "abc...");
}

TEST(ChunkDecoder, RefusesWhatIsMalformed) {
  for (const char* bytes : {"\r\n", "x\r\n", "-1\r\n", " 3\r\nabc", "3\nabc", "3\rxabc",
                            "3\r\nabcd", "3\r\nabc\rx", "3 3\r\nabc", "0x3\r\nabc", "3;a\nabc",
                            "0\r\nX: y\nZ", "0\r\n\rx", "fffffffffffffffff\r\n"}) {
    expect_decoded(bytes, "invalid_argument");
  }
}

TEST(ChunkDecoder, BoundsExtensionsAndTrailersTogether) {
  std::string extension(ChunkDecoder::kOverheadBytesMax / 2, 'e');
  ChunkDecoder decoder;
  std::string data;
  auto half = decoder.decode(cat("1;", extension, "\r\nx\r\n"), data);
  ASSERT_TRUE(half);
  auto over = decoder.decode(cat("0\r\n", extension, "x"), data);
  EXPECT_EQ(over.error().reason(), "headers_too_large");
}

}  // namespace
}  // namespace errand::net::chunk_decoder_test
