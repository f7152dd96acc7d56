#include <gtest/gtest.h>

#include "llm/gemini/gemini_provider.hpp"

namespace errand::llm::probe_test {
namespace {

TEST(GeminiProbe, AsksForTheModelItself) {
  GeminiProvider provider({.model = "g", .api_key = "k", .headers = {{"x-team", "a"}}});
  EXPECT_EQ(provider.probe().path, "/v1beta/models/g");
  EXPECT_EQ(provider.probe().headers, (HeaderList{{"x-goog-api-key", "k"}, {"x-team", "a"}}));
  EXPECT_EQ(provider.probe().listed_id, std::nullopt);
}

}  // namespace
}  // namespace errand::llm::probe_test
