#include "agent/fold/step.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "base/text.hpp"

namespace errand::agent::step_test {
namespace {

llm::Failed failure(bool retryable, bool is_settled) {
  return {.failure = {.error_class = "overloaded", .message = "busy", .retryable = retryable},
          .is_settled = is_settled};
}

Step after_failure(const State& state, const llm::Failed& failed) {
  json::SchemaCache schemas;
  return agent::after_failure(state, failed, 7, schemas);
}

// What follows when this attempt of a turn fails.
std::string after(const llm::Failed& failed, int attempt) {
  State state;
  state.apply(CreatedEntry{});
  state.apply(TurnEntry{.turn = 0, .attempt = attempt});
  Step step = after_failure(state, failed);
  if (auto* ask = std::get_if<Ask>(&step)) return cat("ask, attempt ", ask->entry.attempt);
  const TerminalEntry& end = std::get<Finish>(step).terminal;
  return cat("end, ", end.error_class, end.retryable ? " retryable" : " final");
}

TEST(Step, ATurnThatBreaksIsAskedAgainUpToThreeTimes) {
  EXPECT_EQ(after(failure(true, false), 1), "ask, attempt 2");
  EXPECT_EQ(after(failure(true, false), 2), "ask, attempt 3");
  EXPECT_EQ(after(failure(true, false), 3), "end, overloaded retryable");
}

TEST(Step, ATurnWithoutAnyAnswerIsNotAskedAgainByTheRun) {
  EXPECT_EQ(after(failure(true, true), 1), "end, overloaded retryable");
  EXPECT_EQ(after(failure(false, true), 1), "end, overloaded final");
}

TEST(Step, AFrozenTurnIsNeverAskedAgain) {
  State state;
  state.apply(CreatedEntry{});
  state.apply(TurnEntry{.turn = 0, .attempt = 1});
  state.apply(CallEntry{.id = *ToolUseId::parse("tu_1"), .name = "look", .arguments = "{}"});
  EXPECT_TRUE(std::holds_alternative<Freeze>(after_failure(state, failure(true, false))));
  EXPECT_TRUE(std::holds_alternative<Freeze>(after_failure(state, failure(true, true))));
}

// Brings a run to the question after a turn that was cut off after its first call.
void ask_after_frozen_turn(State& state) {
  ToolUseId call = *ToolUseId::parse("tu_1");
  state.apply(CreatedEntry{});
  state.apply(TurnEntry{.turn = 0, .attempt = 1});
  state.apply(CallEntry{.id = call, .name = "look", .arguments = "{}"});
  state.apply(TurnEndEntry{.finish_reason = "interrupted"});
  state.apply(OutcomeEntry{.id = call, .text = "seen"});
  state.apply(TurnEntry{.turn = 1, .attempt = 1, .after_seq = 4});
}

TEST(Step, AFrozenTurnThatIsRefusedIsToldInPlainWordsOnce) {
  llm::Failed refused{
      {.error_class = "invalid_request", .message = "not like this", .api_status = 400}};
  State state;
  ask_after_frozen_turn(state);
  Step first = after_failure(state, refused);
  ASSERT_TRUE(std::holds_alternative<Ask>(first));
  const TurnEntry& again = std::get<Ask>(first).entry;
  EXPECT_EQ(std::tuple(again.turn, again.attempt, again.retells), std::tuple(1, 2, true));

  state.apply(again);
  Step second = after_failure(state, refused);
  ASSERT_TRUE(std::holds_alternative<Finish>(second));
  EXPECT_EQ(std::get<Finish>(second).terminal.message, "not like this");
}

// The error class of a run with an output schema whose vendor refuses the question.
std::string refused_class(Enforcement enforcement, std::string message) {
  CreatedEntry created;
  created.spec.output_schema = OutputSchema{.name = "o", .enforcement = enforcement};
  created.output_mechanism = OutputMechanism::native;
  State state;
  state.apply(created);
  state.apply(
      TurnEntry{.turn = 0, .attempt = 1, .plain_output = enforcement != Enforcement::strict});
  Step step = after_failure(
      state,
      {{.error_class = "invalid_request", .message = std::move(message), .api_status = 400}});
  return std::get<Finish>(step).terminal.error_class;
}

TEST(Step, ARefusedSchemaThatTheRunInsistsOnHasAClassOfItsOwn) {
  constexpr const char* kRefused = "Invalid Schema for response_format";
  EXPECT_EQ(refused_class(Enforcement::strict, kRefused), "structured_output_schema_rejected");
  EXPECT_EQ(refused_class(Enforcement::strict, "the prompt is empty"), "invalid_request");
  EXPECT_EQ(refused_class(Enforcement::best_effort, kRefused), "invalid_request");
}

}  // namespace
}  // namespace errand::agent::step_test
