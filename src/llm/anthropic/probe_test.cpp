#include <gtest/gtest.h>

#include "llm/anthropic/anthropic_provider.hpp"

namespace errand::llm::probe_test {
namespace {

TEST(AnthropicProbe, AsksForTheModelItself) {
  AnthropicProvider provider({.model = "a/b", .api_key = "k", .headers = {{"x-team", "a"}}});
  EXPECT_EQ(provider.probe().path, "/v1/models/a%2Fb");
  EXPECT_EQ(provider.probe().headers,
            (HeaderList{{"anthropic-version", "2023-06-01"}, {"x-api-key", "k"}, {"x-team", "a"}}));
  EXPECT_EQ(provider.probe().listed_id, std::nullopt);
}

}  // namespace
}  // namespace errand::llm::probe_test
