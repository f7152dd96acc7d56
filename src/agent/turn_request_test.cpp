#include "agent/turn_request.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace errand::agent::turn_request_test {
namespace {

using Texts = std::vector<std::string>;

ToolUseId call_id() {
  return *ToolUseId::parse("tu_1");
}

// A run with a system prompt, a tool and an output schema. Its first turn made a call that is
// answered, and was cut off after it.
std::unique_ptr<State> make_state() {
  CreatedEntry created;
  created.spec.system_prompt = "Be brief.";
  created.spec.prompt = "go";
  created.spec.reasoning_level = 36;
  created.spec.output_schema = {.name = "place", .schema = share_schema({{"type", "object"}})};
  created.tools = share_decls({{.name = "look"}});
  auto state = std::make_unique<State>();
  state->apply(created);
  state->apply(TurnEntry{.turn = 0});
  state->apply(CallEntry{.id = call_id(), .name = "look", .arguments = "{}"});
  state->apply(TurnEndEntry{.text = "Looking.", .finish_reason = std::string(kInterrupted)});
  state->apply(OutcomeEntry{.id = call_id(), .text = "seen"});
  return state;
}

Texts texts_of(const llm::TurnRequest& request) {
  Texts out;
  for (const llm::MessagePtr& message : request.messages) {
    out.push_back(message->text);
    for (const ToolCallPart& call : message->calls) out.push_back("call of " + call.name);
    for (const ToolResultPart& result : message->results) out.push_back("result " + result.text);
  }
  return out;
}

TEST(TurnRequest, ASchemaThatIsToldInWordsChangesNothingElse) {
  auto files = std::make_shared<const llm::TurnFiles>();
  auto state = make_state();
  state->apply(TurnEntry{.turn = 1, .tools_off = true});
  llm::TurnRequest asked = make_turn_request(*state, files);
  EXPECT_EQ(asked.output_schema, state->created().spec.output_schema->schema);
  EXPECT_EQ(asked.output_name, "place");

  state->apply(TurnEntry{.turn = 1, .attempt = 2, .tools_off = true, .plain_output = true});
  llm::TurnRequest plain = make_turn_request(*state, files);
  EXPECT_EQ(plain.output_schema, nullptr);
  EXPECT_EQ(*plain.system_prompt,
            "Be brief.\n\nGive the final answer as JSON of this JSON Schema, and nothing else: "
            R"({"type":"object"})");
  EXPECT_TRUE(std::ranges::equal(plain.messages, asked.messages));
  EXPECT_EQ(plain.tools, asked.tools);
  EXPECT_EQ(plain.reasoning_level, 36);
  EXPECT_TRUE(plain.tools_off);
  EXPECT_EQ(plain.files, files);
}

TEST(TurnRequest, ItSharesTheConversationAndOutlivesTheState) {
  auto state = make_state();
  state->apply(TurnEntry{.turn = 1});
  llm::TurnRequest request = make_turn_request(*state, nullptr);
  EXPECT_TRUE(std::ranges::equal(request.messages, state->messages()));
  EXPECT_EQ(request.system_prompt.get(), &state->created().spec.system_prompt);
  EXPECT_EQ(request.tools, state->created().tools);

  state.reset();
  EXPECT_EQ(*request.system_prompt, "Be brief.");
  EXPECT_EQ(request.tools->at(0).name, "look");
  EXPECT_EQ(texts_of(request), (Texts{"go", "Looking.", "call of look", "", "result seen"}));
}

TEST(TurnRequest, ItDoesNotChangeWhenTheRunGoesOn) {
  auto state = make_state();
  state->apply(TurnEntry{.turn = 1});
  llm::TurnRequest request = make_turn_request(*state, nullptr);
  Texts before = texts_of(request);
  state->apply(TurnEntry{.turn = 1, .attempt = 2, .retells = true});
  state->apply(TurnEndEntry{.text = "Done.", .finish_reason = "end_turn"});
  EXPECT_EQ(texts_of(request), before);
  EXPECT_EQ(texts_of(make_turn_request(*state, nullptr)),
            (Texts{"go", "Looking.",
                   "These tool calls were already made, with these results:\n\nlook {}\n"
                   "result: seen",
                   "Done."}));
}

}  // namespace
}  // namespace errand::agent::turn_request_test
