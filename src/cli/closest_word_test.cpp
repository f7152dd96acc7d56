#include "cli/closest_word.hpp"

#include <gtest/gtest.h>

namespace errand::cli {
namespace {

const std::vector<std::string> kModels{"fast", "claude-sonnet", "gpt-5.5", "gpt-5.5-mini"};

TEST(ClosestWord, TakesAFewWrongLettersForATypo) {
  EXPECT_EQ(closest_word("fasst", kModels), "fast");
  EXPECT_EQ(closest_word("claud-sonet", kModels), "claude-sonnet");
  EXPECT_EQ(closest_word("gpt-5.4", kModels), "gpt-5.5");
  EXPECT_EQ(closest_word("gpt-5.5-mimi", kModels), "gpt-5.5-mini");
}

TEST(ClosestWord, IsNothingForAnotherWord) {
  EXPECT_EQ(closest_word("slow", kModels), std::nullopt);
  EXPECT_EQ(closest_word("", kModels), std::nullopt);
  EXPECT_EQ(closest_word("fast", {}), std::nullopt);
  EXPECT_EQ(closest_word(std::string(1'000'000, 'x'), {std::string(1'000'000, 'x')}), std::nullopt);
}

}  // namespace
}  // namespace errand::cli
