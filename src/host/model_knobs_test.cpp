#include "host/model_knobs.hpp"

#include <gtest/gtest.h>

namespace errand::host::model_knobs_test {
namespace {

TEST(ModelKnobs, ModelsOfOpenAiHaveALowestEffortOrNone) {
  EXPECT_EQ(lowest_effort("gpt-4o"), "");
  EXPECT_EQ(lowest_effort("gpt-4.1-mini"), "");
  EXPECT_EQ(lowest_effort("gpt-5-chat-latest"), "");
  EXPECT_EQ(lowest_effort("o3-mini"), "low");
  EXPECT_EQ(lowest_effort("o1"), "low");
  EXPECT_EQ(lowest_effort("gpt-5"), "minimal");
  EXPECT_EQ(lowest_effort("gpt-5-nano-2025-08-07"), "minimal");
  EXPECT_EQ(lowest_effort("gpt-5-codex"), "low");
  EXPECT_EQ(lowest_effort("gpt-5.1"), "none");
  EXPECT_EQ(lowest_effort("gpt-5.5"), "none");
  EXPECT_EQ(lowest_effort("gpt-6-mini"), "none");
  EXPECT_EQ(lowest_effort("openai/gpt-5.5"), "none");
}

TEST(ModelKnobs, OfModelsOfOthersOnlyGptOssTakesAnEffort) {
  EXPECT_EQ(lowest_effort("gpt-oss:20b"), "low");
  EXPECT_EQ(lowest_effort("llama3.2:latest"), "");
  EXPECT_EQ(lowest_effort("grok-4"), "");
  EXPECT_EQ(lowest_effort("olmo-2"), "");
  EXPECT_EQ(lowest_effort(""), "");
}

TEST(ModelKnobs, ModelsOfAnthropicThinkNotAtAllOrByBudgetOrByEffort) {
  using enum llm::AnthropicThinking;
  EXPECT_EQ(anthropic_thinking("claude-3-5-haiku-20241022"), none);
  EXPECT_EQ(anthropic_thinking("claude-3-7-sonnet-latest"), budget);
  EXPECT_EQ(anthropic_thinking("claude-sonnet-4-20250514"), budget);
  EXPECT_EQ(anthropic_thinking("claude-opus-4-1-20250805"), budget);
  EXPECT_EQ(anthropic_thinking("claude-haiku-4-5"), budget);
  EXPECT_EQ(anthropic_thinking("claude-opus-4-6"), adaptive);
  EXPECT_EQ(anthropic_thinking("claude-sonnet-5"), adaptive);
}

TEST(ModelKnobs, ModelsOfGoogleThinkNotAtAllOrByBudgetOrByLevel) {
  auto knobs = [](const char* model) {
    llm::GeminiOptions options{.model = model, .api_key = ""};
    set_thinking(options);
    return std::tuple(options.thinking, options.thinking_budget_min, options.thinking_level_min);
  };
  using enum llm::GeminiThinking;
  EXPECT_EQ(std::get<0>(knobs("gemini-2.0-flash")), none);
  EXPECT_EQ(std::get<0>(knobs("gemma-3-27b-it")), none);
  EXPECT_EQ(knobs("gemini-2.5-flash"), std::tuple(budget, 0, "MINIMAL"));
  EXPECT_EQ(knobs("gemini-2.5-pro"), std::tuple(budget, 128, "MINIMAL"));
  EXPECT_EQ(knobs("gemini-3-pro-preview"), std::tuple(level, 0, "LOW"));
  EXPECT_EQ(knobs("gemini-3.5-flash"), std::tuple(level, 0, "MINIMAL"));
  EXPECT_EQ(knobs("gemini-flash-latest"), std::tuple(level, 0, "MINIMAL"));
}

TEST(ModelKnobs, OnlyNewerModelsOfGoogleWantSignaturesOnEveryFirstCall) {
  auto signature = [](const char* model) {
    llm::GeminiOptions options{.model = model, .api_key = ""};
    set_thinking(options);
    return options.unsigned_call_signature;
  };
  EXPECT_EQ(signature("gemini-2.5-pro"), "");
  EXPECT_EQ(signature("gemma-3-27b-it"), "");
  EXPECT_EQ(signature("gemini-3.7-flash"), "skip_thought_signature_validator");
}

}  // namespace
}  // namespace errand::host::model_knobs_test
