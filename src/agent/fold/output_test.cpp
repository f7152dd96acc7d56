#include "agent/fold/output.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "agent/fold/step.hpp"
#include "base/text.hpp"
#include "json/parse.hpp"

namespace errand::agent::output_test {
namespace {

constexpr std::string_view kSchema =
    R"({"type":"object","properties":{"city":{"type":"string"}},"required":["city"]})";

// A run that has answered with a text.
struct Answered {
  explicit Answered(std::string text, std::string_view schema = kSchema) {
    CreatedEntry created;
    created.spec.prompt = "go";
    if (!schema.empty()) {
      created.spec.output_schema =
          OutputSchema{.schema = share_schema(json::parse(schema)->as_object())};
    }
    state.apply(created);
    state.apply(TurnEntry{});
    state.apply(TurnEndEntry{.text = std::move(text), .blocks = {}, .finish_reason = "end_turn"});
  }

  std::string mistakes() { return output_mistakes(state, schemas).value_or("none"); }

  State state;
  json::SchemaCache schemas;
};

TEST(Output, FittingTextHasNoMistakes) {
  EXPECT_EQ(Answered(R"({"city":"Oslo"})").mistakes(), "none");
  EXPECT_EQ(Answered("\n {\"city\":\"Oslo\"}\n").mistakes(), "none");
  EXPECT_EQ(Answered(R"({"city":7,"city":"Oslo"})").mistakes(), "none") << "as clients read it";
  EXPECT_EQ(Answered("7", R"({"type":"integer"})").mistakes(), "none");
}

TEST(Output, AnyTextFitsWithoutASchema) {
  EXPECT_EQ(Answered("It is Oslo.", "").mistakes(), "none");
}

TEST(Output, MistakesHaveTheirPointers) {
  EXPECT_EQ(Answered(R"({"city":7})").mistakes(), "/city: expected a string, got 7");
  EXPECT_EQ(Answered("{}").mistakes(), R"(missing required property "city")");
}

TEST(Output, TextThatIsNoJsonIsAMistake) {
  for (std::string text : {"", "It is Oslo.", "```json\n{\"city\":\"Oslo\"}\n```", "{\"city\":"}) {
    EXPECT_TRUE(Answered(text).mistakes().starts_with("the answer is not JSON: ")) << text;
  }
}

TEST(Output, TextThatIsTooLongIsNotLookedAt) {
  auto of_size = [](std::size_t bytes) {
    constexpr std::string_view kFrame = R"({"city":""})";
    return cat(R"({"city":")", std::string(bytes - kFrame.size(), 'x'), "\"}");
  };
  EXPECT_EQ(Answered(of_size(kOutputBytesMax)).mistakes(), "none");
  EXPECT_EQ(Answered(of_size(kOutputBytesMax + 1)).mistakes(),
            "the answer is longer than 2097152 bytes");
}

TEST(Output, WhatIsSaidOfMistakesIsBounded) {
  std::string text = cat(R"({"city":")", std::string(100'000, 'x'), "\"}");
  std::string schema = cat(R"({"enum":[")", std::string(20'000, 'y'), "\"]}");
  EXPECT_LE(Answered(text, schema).mistakes().size(), kMistakesBytesMax);
}

TEST(Output, SecondTryIsTheNextStepAndTheLastOne) {
  Answered answered("{}");
  Step step = next_step(answered.state, 3, answered.schemas);
  const auto& asked = std::get<Ask>(step).entry;
  EXPECT_EQ(asked.turn, 1);
  EXPECT_EQ(asked.after_seq, 3);
  EXPECT_TRUE(asked.repairs);
  EXPECT_TRUE(asked.tools_off);
  EXPECT_EQ(asked.prompt, repair_prompt(R"(missing required property "city")"));
  answered.state.apply(asked);
  answered.state.apply(TurnEndEntry{.text = "[]", .blocks = {}, .finish_reason = "end_turn"});
  step = next_step(answered.state, 5, answered.schemas);
  EXPECT_EQ(std::get<Finish>(step).terminal.error_class, kOutputInvalid);
}

TEST(Output, TotalsTellOfTheModelAndTheWayOfTheLastTurn) {
  Answered answered("{}");
  EXPECT_EQ(answered.state.totals().model, ModelInfo());
  ModelInfo spare{.id = "spare", .provider = "p", .vendor_model_id = "v"};
  AnsweredBy by{.model = spare, .output_mechanism = OutputMechanism::answer_tool};
  answered.state.apply(TurnEntry{.turn = 1});
  answered.state.apply(TurnEndEntry{.text = "{}", .blocks = {}, .answered_by = by});
  EXPECT_EQ(answered.state.totals().model, spare);
  EXPECT_EQ(answered.state.totals().output->mechanism, OutputMechanism::answer_tool);
  answered.state.apply(TurnEntry{.turn = 2});
  EXPECT_EQ(answered.state.totals().model, ModelInfo()) << "nobody has answered it yet";
  EXPECT_EQ(answered.state.totals().output->mechanism, OutputMechanism::plain);
}

TEST(Output, ASchemaThatAServerBreaksOverIsToldInWords) {
  auto next = [](std::string message) {
    CreatedEntry created;
    created.spec.output_schema =
        OutputSchema{.schema = share_schema({}), .enforcement = Enforcement::best_effort};
    created.output_mechanism = OutputMechanism::native;
    State state;
    state.apply(created);
    state.apply(TurnEntry{});
    json::SchemaCache schemas;
    llm::Failed failed{.failure = {.error_class = "server_error",
                                   .message = std::move(message),
                                   .retryable = true,
                                   .api_status = 500}};
    return std::get<Ask>(after_failure(state, failed, 0, schemas)).entry.plain_output;
  };
  EXPECT_TRUE(next("[{'loc': ('body', 'response_format', 'type'), 'msg': 'unexpected value'}]"));
  EXPECT_FALSE(next("out of memory"));
}

TEST(Output, ASchemaThatAnotherModelWillNotHaveIsToldInWordsIfThatIsAllowed) {
  llm::Failed refused{.failure = {.error_class = "overloaded"}, .is_settled = true};
  refused.refuses_schema = true;
  auto next = [&](Enforcement enforcement) {
    CreatedEntry created;
    created.spec.output_schema =
        OutputSchema{.schema = share_schema({}), .enforcement = enforcement};
    State state;
    state.apply(created);
    state.apply(TurnEntry{});
    json::SchemaCache schemas;
    return after_failure(state, refused, 0, schemas);
  };
  EXPECT_TRUE(std::get<Ask>(next(Enforcement::best_effort)).entry.plain_output);
  EXPECT_EQ(std::get<Finish>(next(Enforcement::strict)).terminal.error_class, "overloaded");
}

}  // namespace
}  // namespace errand::agent::output_test
