#include <gtest/gtest.h>

#include <optional>

#include "agent/fold/state.hpp"
#include "run/usage.hpp"

namespace errand::agent::cost_test {
namespace {

constexpr Pricing kDeep{.input_per_1m_usd = 10, .output_per_1m_usd = 50};
constexpr Pricing kFast{.input_per_1m_usd = 1, .output_per_1m_usd = 5};
constexpr Usage kTokens{.input_tokens = 1000, .output_tokens = 100};

AnsweredBy spare(std::optional<Pricing> price) {
  return {.model = {.id = "spare", .provider = "p", .vendor_model_id = "v"}, .price = price};
}

// A run of two turns whose second was answered by `second`, if that is anybody else.
std::optional<double> cost(std::optional<Pricing> price, std::optional<AnsweredBy> second,
                           Usage usage = kTokens) {
  State state;
  CreatedEntry created;
  created.price = price;
  state.apply(created);
  state.apply(TurnEntry{});
  state.apply(TurnEndEntry{.text = "", .blocks = {}, .usage = kTokens});
  state.apply(TurnEntry{.turn = 1});
  state.apply(TurnEndEntry{.text = "", .blocks = {}, .usage = usage, .answered_by = second});
  return state.totals().cost_usd;
}

TEST(Cost, EachTurnHasThePriceOfTheModelThatAnsweredIt) {
  EXPECT_EQ(cost(kDeep, {}), 0.03);
  EXPECT_EQ(cost(kDeep, spare(kFast)), 0.0165);
}

TEST(Cost, APriceOrANumberOfTokensThatIsUnknownLeavesTheCostUnknown) {
  EXPECT_EQ(cost({}, {}), std::nullopt);
  EXPECT_EQ(cost(kDeep, spare({})), std::nullopt);
  EXPECT_EQ(cost(Pricing{.input_per_1m_usd = 1}, {}), std::nullopt);
  EXPECT_EQ(cost(kDeep, {}, Usage()), std::nullopt);
}

TEST(Cost, CachedTokensHaveAPriceOfTheirOwnOrThatOfInput) {
  Usage usage{.input_tokens = 1000, .cached_tokens = 400, .output_tokens = 1};
  Pricing pricing{.input_per_1m_usd = 1000, .output_per_1m_usd = 0};
  EXPECT_EQ(cost_usd(usage, pricing), 1.0);
  pricing.cache_read_per_1m_usd = 0;
  EXPECT_EQ(cost_usd(usage, pricing), 0.6);
}

TEST(Cost, ARunThatHasAskedNobodyHasNone) {
  State state;
  state.apply(CreatedEntry{});
  EXPECT_EQ(state.totals().cost_usd, std::nullopt);
}

}  // namespace
}  // namespace errand::agent::cost_test
