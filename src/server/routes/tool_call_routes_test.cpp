// What those who wait for calls leave behind.
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "server/test_served.hpp"

namespace errand::server::tool_call_routes_test {
namespace {

using engine::testing::client_tool;
using engine::testing::Disk;
using engine::testing::someone;
using engine::testing::spec_with_tools;
using test::Served;

constexpr std::string_view kOneCall =
    R"({"turns":[{"toolCalls":[{"name":"look"}]},{"text":["Seen."]}]})";

struct ToolCallRoutesTest : ::testing::Test {
  Disk disk;
  Served served{disk, kOneCall};
  std::function<void()> leave;  // what is to be done once the client has left

  void poll() {
    net::Request request =
        served.request("/api/v1/workspaces/default/tool-calls", "wait=60&name=look");
    request.when_left = [this](std::function<void()> action) { leave = std::move(action); };
    served.send(std::move(request));
  }
  void offer_a_call() {
    ASSERT_TRUE(served.world.result_of(
        served.world.engine.create(someone(), spec_with_tools({client_tool("look")}), {})));
  }
  std::uint64_t looks() const { return served.world.engine.counters().call_looks; }
};

TEST_F(ToolCallRoutesTest, ACallWakesWhoeverPollsForIt) {
  poll();
  EXPECT_FALSE(served.answer);
  offer_a_call();
  ASSERT_TRUE(served.answer);
  EXPECT_NE(served.answer->body.find("\"look\""), std::string::npos);
  EXPECT_EQ(looks(), 2U);
}

TEST_F(ToolCallRoutesTest, NobodyLooksForAPollerThatHasLeft) {
  poll();
  ASSERT_TRUE(leave);
  EXPECT_FALSE(served.answer);
  leave();
  served.world.settle();
  ASSERT_TRUE(served.answer);
  EXPECT_EQ(served.answer->body, R"({"toolCalls":[],"nextCursor":null})");
  offer_a_call();
  EXPECT_EQ(looks(), 1U);
}

}  // namespace
}  // namespace errand::server::tool_call_routes_test
