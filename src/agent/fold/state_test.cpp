#include "agent/fold/state.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace errand::agent::state_test {
namespace {

TEST(State, HasNoTextBeforeTheFirstTurnIsOver) {
  State state;
  state.apply(CreatedEntry{});
  state.apply(TurnEntry{});
  EXPECT_EQ(state.last_text(), "");
}

TEST(State, HoldsTheTextOfAnAnswerOnce) {
  State state;
  state.apply(CreatedEntry{});
  state.apply(TurnEntry{});
  state.apply(CallEntry{.id = *ToolUseId::parse("tu_1"), .text = "a", .blocks = {"x"}});
  state.apply(TurnEndEntry{.text = "b", .blocks = {"y"}, .finish_reason = "tool_use"});

  const Message& message = *state.messages().back();
  EXPECT_EQ(message.text, "ab");
  EXPECT_EQ(message.provider_blocks, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(&state.last_text(), &message.text);
  EXPECT_EQ(state.turn().text, "");
  EXPECT_TRUE(state.turn().blocks.empty());
  EXPECT_EQ(state.turn().end->text, "");
  EXPECT_EQ(state.turn().end->finish_reason, "tool_use");
}

}  // namespace
}  // namespace errand::agent::state_test
