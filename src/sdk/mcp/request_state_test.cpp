#include "sdk/mcp/request_state.hpp"

#include <gtest/gtest.h>

namespace errand::sdk::request_state_test {
namespace {

const WallTime kNow = from_millis(1'700'000'000'000);
const json::Object kAnswers{{"name", json::Object{{"action", "accept"}}}};

TEST(RequestStates, GiveBackWhatWasSealed) {
  RequestStates states("key");
  auto opened = states.open(states.seal(kAnswers, "tools/call a", kNow), "tools/call a", kNow);
  ASSERT_TRUE(opened);
  EXPECT_EQ(*opened, kAnswers);
}

TEST(RequestStates, RefuseWhatIsNotTheirs) {
  RequestStates states("key");
  const std::string state = states.seal(kAnswers, "tools/call a", kNow);
  EXPECT_FALSE(states.open(state, "tools/call b", kNow));
  EXPECT_FALSE(RequestStates("other").open(state, "tools/call a", kNow));
  EXPECT_FALSE(states.open("", "tools/call a", kNow));
  EXPECT_FALSE(states.open("e30=.", "tools/call a", kNow));
  for (std::size_t i = 0; i < state.size(); ++i) {
    std::string changed = state;
    changed[i] = changed[i] == 'a' ? 'b' : 'a';
    EXPECT_FALSE(states.open(changed, "tools/call a", kNow)) << i;
  }
}

TEST(RequestStates, AreGoodForAWhile) {
  RequestStates states("key");
  const std::string state = states.seal(kAnswers, "r", kNow);
  EXPECT_TRUE(states.open(state, "r", kNow + RequestStates::kAgeMax));
  auto late = states.open(state, "r", kNow + RequestStates::kAgeMax + milliseconds(1));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().message(), "the state is too old: begin the request again");
}

}  // namespace
}  // namespace errand::sdk::request_state_test
