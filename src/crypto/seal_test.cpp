#include "crypto/seal.hpp"

#include <gtest/gtest.h>

#include <set>

namespace errand::crypto::seal_test {
namespace {

SealKey key_of(std::uint8_t first) {
  SealKey key;
  key.bytes[0] = first;
  return key;
}

TEST(Seal, WhatIsSealedComesBackWithTheSameKeyAndContext) {
  const std::string plain("a secret\0with a zero", 20);
  std::string sealed = seal(key_of(1), plain, "default/secret/token");

  EXPECT_EQ(unseal(key_of(1), sealed, "default/secret/token"), plain);
  EXPECT_EQ(sealed.find("secret"), std::string::npos);
}

TEST(Seal, AnEmptyTextAndAnEmptyContextAreFine) {
  EXPECT_EQ(unseal(key_of(1), seal(key_of(1), "", ""), ""), "");
}

TEST(Seal, AnotherKeyOrContextDoesNotUnseal) {
  std::string sealed = seal(key_of(1), "value", "acme/secret/token");

  EXPECT_EQ(unseal(key_of(2), sealed, "acme/secret/token"), std::nullopt);
  EXPECT_EQ(unseal(key_of(1), sealed, "evil/secret/token"), std::nullopt);
}

TEST(Seal, NoByteCanBeChangedOrCutOff) {
  std::string sealed = seal(key_of(1), "value", "context");
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(unseal(key_of(1), changed, "context"), std::nullopt) << i;
    EXPECT_EQ(unseal(key_of(1), sealed.substr(0, i), "context"), std::nullopt) << i;
  }
}

TEST(Seal, TheSameTextIsSealedDifferentlyEachTime) {
  std::set<std::string> sealed;
  for (int i = 0; i < 100; ++i) sealed.insert(seal(key_of(1), "value", "context"));
  EXPECT_EQ(sealed.size(), 100U);
}

TEST(SealKeyText, AKeyIs64HexDigits) {
  SealKey key = random_seal_key();

  ASSERT_TRUE(parse_seal_key(to_hex(key)));
  EXPECT_EQ(parse_seal_key(to_hex(key))->bytes, key.bytes);
  EXPECT_EQ(to_hex(key).size(), 64U);
  EXPECT_FALSE(parse_seal_key(to_hex(key).substr(1)));
  EXPECT_FALSE(parse_seal_key(std::string(64, 'g')));
}

}  // namespace
}  // namespace errand::crypto::seal_test
