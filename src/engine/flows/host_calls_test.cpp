// When a call of this process may begin, and what is told of one that did not.
#include "engine/flows/test_host_tools.hpp"

namespace errand::engine::testing::host_calls_test {
namespace {

constexpr std::string_view kOneCall =
    R"({"turns":[{"toolCalls":[{"name":"act"}]},{"text":["ok"]}]})";

// The call may not begin before it is in the journal for good, and that takes three minutes.
TEST_F(HostToolsTest, TimeOfACallBeginsWhenItMayTakeEffect) {
  World world(disk, kOneCall);
  int begun = 0;
  add(world, decl_of("act", {}), [&begun](ToolCall, ToolContext) -> Task<ToolOutcome> {
    ++begun;
    co_return text_outcome("done");
  });
  const SteadyTime is_back = world.timers.now() + seconds(180);
  world.fault = [&](FaultyStore::Operation op) {
    bool fails = op.kind == FaultyStore::Kind::append && world.timers.now() < is_back;
    return fails ? FaultyStore::Fault::fail_before : FaultyStore::Fault::none;
  };
  run(world);
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(lines_with(R"("result":"done")").size(), 1U);
}

// While the store is away, the lease runs out: another process might own the run.
TEST_F(HostToolsTest, CallWaitsForTheLeaseThatRanOutWhileItWasJournaled) {
  World world(disk, kOneCall, {}, {}, seconds(30));
  std::vector<bool> owned;
  bool renews = true;
  add(world, decl_of("act", {}), [&](ToolCall, ToolContext) -> Task<ToolOutcome> {
    owned.push_back(renews);
    co_return text_outcome("done");
  });
  world.engine.start();
  world.settle();
  const SteadyTime is_back = world.timers.now() + seconds(60);
  renews = false;
  world.fault = [&](FaultyStore::Operation op) {
    using Kind = FaultyStore::Kind;
    const bool is_away = world.timers.now() < is_back;
    bool fails = (op.kind == Kind::append && is_away) || (op.kind == Kind::renew && !renews);
    return fails ? FaultyStore::Fault::fail_before : FaultyStore::Fault::none;
  };
  world.tasks.spawn("client", client.go(&world));
  pass(disk, {&world}, seconds(90));
  EXPECT_EQ(owned, std::vector<bool>());
  renews = true;
  pass(disk, {&world}, seconds(30));
  EXPECT_EQ(owned, std::vector<bool>{true});
  EXPECT_TRUE(client.done);
}

TEST_F(HostToolsTest, CallThatHadNotBegunIsNotToldAsCutOffByACancel) {
  World world(disk,
              R"({"turns":[{"toolCalls":[{"name":"slow"},{"name":"careless"}]},{"text":["no"]}]})");
  client.spec = spec_with_tools({HostTool{"slow"}, HostTool{"careless"}});
  client.cancels_after = 1;
  run(world);
  EXPECT_EQ(lines_with("cancelled while this call was running").size(), 1U);
  EXPECT_EQ(lines_with("was not made: the run was cancelled").size(), 1U);
  std::int64_t counted = 0;
  for (const auto& [kind, counts] : world.engine.counters().tool_calls) {
    counted += static_cast<std::int64_t>(counts.calls);
  }
  EXPECT_EQ(counted, 1);
}

}  // namespace
}  // namespace errand::engine::testing::host_calls_test
