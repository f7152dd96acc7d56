#include "llm/tool_words.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace errand::llm::tool_words_test {
namespace {

TEST(ToolWords, TheOutputSchemaFollowsTheDescription) {
  ToolDecl tool{.name = "t", .description = "Looks."};
  EXPECT_EQ(told_description(tool), "Looks.");
  tool.output_schema = share_schema({{"type", "object"}});
  EXPECT_EQ(told_description(tool),
            "Looks.\n\nThe result is JSON that matches this schema: {\"type\":\"object\"}");
  tool.description.clear();
  EXPECT_EQ(told_description(tool),
            "The result is JSON that matches this schema: {\"type\":\"object\"}");
}

TEST(ToolWords, AHugeSchemaIsNotTold) {
  ToolDecl tool{.name = "t", .description = "Looks."};
  tool.output_schema = share_schema({{"title", std::string(5000, 'x')}});
  EXPECT_EQ(told_description(tool), "Looks.");
}

}  // namespace
}  // namespace errand::llm::tool_words_test
