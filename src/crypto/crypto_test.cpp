#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

#include "crypto/digest.hpp"
#include "crypto/random.hpp"

namespace errand::crypto::crypto_test {
namespace {

std::string sha256_hex(std::string_view text) {
  return to_hex(sha256(text));
}

// The vectors of FIPS 180-4.
TEST(Digest, Sha256GivesThePublishedVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Digest, NulBytesCount) {
  EXPECT_NE(sha256(std::string_view("a\0b", 3)), sha256("a"));
}

TEST(Digest, ConstantTimeCompareIsEquality) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("secret", "secret"));
  EXPECT_FALSE(equal_in_constant_time("secret", "Secret"));
  EXPECT_FALSE(equal_in_constant_time("secret", "secreT"));
  EXPECT_FALSE(equal_in_constant_time("secret", "secret2"));
  EXPECT_FALSE(equal_in_constant_time("secret", ""));
  EXPECT_FALSE(equal_in_constant_time(std::string_view("a\0b", 3), std::string_view("a\0c", 3)));
}

TEST(Random, NothingComesTwice) {
  std::set<std::uint64_t> bits;
  std::set<std::string> texts;
  for (int i = 0; i < 1000; ++i) {
    bits.insert(random_bits());
    texts.insert(random_hex(16));
  }
  EXPECT_EQ(bits.size(), 1000U);
  EXPECT_EQ(texts.size(), 1000U);
}

TEST(Random, EveryBitVaries) {
  std::uint64_t ones = 0;
  std::uint64_t zeros = 0;
  for (int i = 0; i < 200; ++i) {
    std::uint64_t bits = random_bits();
    ones |= bits;
    zeros |= ~bits;
  }
  EXPECT_EQ(ones, ~std::uint64_t{0});
  EXPECT_EQ(zeros, ~std::uint64_t{0});
}

TEST(Random, HexHasTwoDigitsPerByte) {
  EXPECT_EQ(random_hex(0), "");
  std::string text = random_hex(1000);
  EXPECT_EQ(text.size(), 2000U);
  EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos);
}

}  // namespace
}  // namespace errand::crypto::crypto_test
