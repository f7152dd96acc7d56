#include "base/eight_bytes.hpp"

#include <gtest/gtest.h>

#include <string>

namespace errand::eight_bytes_test {
namespace {

// Every byte at every place, among others that are none of those asked for.
template <class Asked>
void expect_at_each_place(Asked asked, bool (*expected)(unsigned char)) {
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t place = 0; place < EightBytes::kSize; ++place) {
      std::string text(EightBytes::kSize, 'a');
      text[place] = static_cast<char>(byte);
      EXPECT_EQ(asked(EightBytes(text.data())), expected(static_cast<unsigned char>(byte)))
          << byte << " at " << place;
    }
  }
}

TEST(EightBytes, FindsNonAscii) {
  expect_at_each_place([](EightBytes bytes) { return bytes.has_non_ascii(); },
                       [](unsigned char byte) { return byte >= 0x80; });
}

TEST(EightBytes, FindsAsciiBytesBelowABound) {
  expect_at_each_place([](EightBytes bytes) { return bytes.has_below(0x20); },
                       [](unsigned char byte) { return byte < 0x20; });
}

TEST(EightBytes, FindsOneByte) {
  expect_at_each_place([](EightBytes bytes) { return bytes.has('"'); },
                       [](unsigned char byte) { return byte == '"'; });
}

}  // namespace
}  // namespace errand::eight_bytes_test
