#include "base/base64.hpp"

#include <gtest/gtest.h>

namespace errand::base64_test {
namespace {

TEST(Base64, EveryLengthGoesThereAndBack) {
  const std::pair<std::string_view, std::string_view> cases[] = {{"", ""},
                                                                 {"f", "Zg=="},
                                                                 {"fo", "Zm8="},
                                                                 {"foo", "Zm9v"},
                                                                 {"foob", "Zm9vYg=="},
                                                                 {"fooba", "Zm9vYmE="},
                                                                 {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, EveryByteGoesThereAndBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  EXPECT_EQ(to_base64("\xfb\xff"), "+/8=");
}

TEST(Base64, AnythingElseIsRefused) {
  for (std::string_view text :
       {"Zg", "Zg=", "Zg===", "Z===", "====", "=", "Zm9v\n", "Zm 9v", "Zm9-", "Zm9_",
        "Zh==", "Zm9=", "Zg==Zg==", "Z\0g=", "\xc3\xa4=="}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace errand::base64_test
