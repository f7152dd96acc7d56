#include "agent/fold/guards.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace errand::agent::guards_test {
namespace {

using Stage = Repetition::Stage;

// A batch for each letter: the same letter is the same calls. Each calls one tool of that name.
std::vector<Batch> batches(std::string_view letters) {
  std::vector<Batch> out;
  for (char letter : letters) {
    out.push_back({.calls = static_cast<unsigned char>(letter), .tools = {std::string(1, letter)}});
  }
  return out;
}

// A batch for each letter: the same letter is the same error; '.' is none.
std::vector<Batch> errors(std::string_view letters) {
  std::vector<Batch> out;
  for (char letter : letters) {
    std::uint64_t error = letter == '.' ? 0 : static_cast<unsigned char>(letter);
    out.push_back({.calls = out.size(), .error = error, .tools = {"t"}});
  }
  return out;
}

struct LoopCase {
  std::string_view batches;
  Stage stage;
  int count;
  std::vector<std::string> tools;
};

TEST(Guards, LoopsAndCyclesAreFoundByTheirLastBatch) {
  const std::vector<LoopCase> cases = {
      {"", Stage::none, 0, {}},
      {"A", Stage::none, 0, {}},
      {"AA", Stage::none, 0, {}},
      {"AAA", Stage::nudge, 3, {"A"}},
      {"AAAA", Stage::known, 4, {"A"}},
      {"AAAAA", Stage::known, 5, {"A"}},
      {"AAAAAA", Stage::cut_off, 6, {"A"}},
      {"AABAA", Stage::none, 0, {}},
      {"BBAAA", Stage::nudge, 3, {"A"}},
      {"ABABA", Stage::none, 0, {}},
      {"ABABAB", Stage::nudge, 3, {"A", "B"}},
      {"ABABABA", Stage::known, 3, {"B", "A"}},
      {"ABABABABABAB", Stage::cut_off, 6, {"A", "B"}},
      {"ABCABCABC", Stage::nudge, 3, {"A", "B", "C"}},
      {"ABCDABCDABCD", Stage::nudge, 3, {"A", "B", "C", "D"}},
      {"ABCDEABCDEABCDE", Stage::none, 0, {}},
      {"ABCDEFGH", Stage::none, 0, {}},
  };
  for (const LoopCase& one : cases) {
    EXPECT_EQ(find_loop(batches(one.batches), {}),
              (Repetition{.stage = one.stage, .count = one.count, .tools = one.tools}))
        << one.batches;
  }
}

TEST(Guards, ThresholdsAreThoseOfTheRun) {
  LoopLimits limits{.nudge_at = 2, .cut_off_at = 3};
  EXPECT_EQ(find_loop(batches("A"), limits).stage, Stage::none);
  EXPECT_EQ(find_loop(batches("AA"), limits).stage, Stage::nudge);
  EXPECT_EQ(find_loop(batches("AAA"), limits).stage, Stage::cut_off);
}

TEST(Guards, CallsAreHeldBackWhenOneMoreBatchCouldBeALoop) {
  for (std::string_view near : {"AA", "BAA", "AAA", "ABABA", "ABCABCAB"}) {
    EXPECT_TRUE(is_near_loop(batches(near), {})) << near;
  }
  for (std::string_view far : {"", "A", "AB", "ABA", "ABAB", "AAB"}) {
    EXPECT_FALSE(is_near_loop(batches(far), {})) << far;
  }
}

TEST(Guards, TheSameErrorIsFoundWhateverWasCalled) {
  EXPECT_EQ(find_same_error(errors("EE"), {}).stage, Stage::none);
  EXPECT_EQ(find_same_error(errors("EEE"), {}),
            (Repetition{.stage = Stage::nudge, .count = 3, .tools = {"t"}}));
  EXPECT_EQ(find_same_error(errors("YEEE"), {}).stage, Stage::nudge);
  EXPECT_EQ(find_same_error(errors("EEEE"), {}).stage, Stage::known);
  EXPECT_EQ(find_same_error(errors("EEEEEE"), {}).stage, Stage::cut_off);
  EXPECT_EQ(find_same_error(errors("EE.E"), {}).stage, Stage::none);
  EXPECT_EQ(find_same_error(errors("EYEYEY"), {}).stage, Stage::none);
  EXPECT_EQ(find_same_error(errors("..."), {}).stage, Stage::none);
}

TEST(Guards, SpellingOfArgumentsDoesNotMatter) {
  const std::vector<std::pair<std::string_view, std::string_view>> same = {
      {R"({"a":1,"b":[2]})", R"({ "b" : [2.0], "a" : 1e0 })"},
      {R"({"a":{"x":-0.0,"y":"é"}})", R"({"a":{"y":"\u00e9","x":0}})"},
      {R"({"n":100})", R"({"n":1E2})"},
      {"{oops", "{oops"},
  };
  for (const auto& [one, other] : same) {
    EXPECT_EQ(canonical_arguments(one), canonical_arguments(other)) << one;
  }
  const std::vector<std::pair<std::string_view, std::string_view>> different = {
      {R"({"a":1})", R"({"a":"1"})"},
      {R"({"a":[1,2]})", R"({"a":[2,1]})"},
      {R"({"a":1.5})", R"({"a":1})"},
      {R"({"a":null})", "{}"},
      {"{oops", "{oop"},
  };
  for (const auto& [one, other] : different) {
    EXPECT_NE(canonical_arguments(one), canonical_arguments(other)) << one;
  }
}

}  // namespace
}  // namespace errand::agent::guards_test
