#include <gtest/gtest.h>

#include "engine/flows/test_world.hpp"

namespace errand::engine::testing::pending_calls_test {
namespace {

constexpr std::string_view kTwoCalls = R"({"turns":[
  {"toolCalls":[{"name":"look","args":{"at":1}},{"name":"look","args":{"at":2}}]},
  {"text":["Seen."]}]})";

using Calls = Result<std::vector<PendingCall>>;

CallFilter unclaimed() {
  return {.workspace = someone().workspace, .status = CallFilter::Status::unclaimed};
}

struct PendingCallsTest : ::testing::Test {
  Disk disk;
  Client client{.spec = spec_with_tools({client_tool("look")}), .answers = false};
  World world{disk, kTwoCalls};

  // Starts a run and waits until both of its calls are offered; their ids, oldest first.
  std::vector<std::string> offered() {
    world.tasks.spawn("client", client.go(&world));
    world.run_until([this] { return client.pending.size() == 2; });
    return {client.pending.begin(), client.pending.end()};
  }
  std::vector<PendingCall> pending() {
    return world.result_of(world.engine.pending_calls(unclaimed(), {})).value();
  }
  Result<PendingCall> claim(const std::string& id, milliseconds ttl) {
    return world.result_of(world.engine.claim_call(someone(), id, ttl));
  }
  Result<void> answer(const std::string& id, std::string claim_id) {
    return world.result_of(world.engine.answer(
        someone(), *client.run, {.tool_use_id = id, .answer = {}, .claim_id = claim_id}));
  }
  void pass(milliseconds duration) { testing::pass(disk, {&world}, duration); }
};

TEST_F(PendingCallsTest, AreShownWithWhatTheyAskAndUntilWhen) {
  std::vector<std::string> ids = offered();

  std::vector<PendingCall> calls = pending();

  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].box.slot, ids[0]);
  EXPECT_EQ(calls[0].box.run, *client.run);
  EXPECT_EQ(calls[0].box.name, "look");
  EXPECT_EQ(calls[0].box.request, R"({"at":1})");
  EXPECT_EQ(calls[0].expires_at, disk.clock.now() + Limits{}.local_tool_timeout);
  EXPECT_FALSE(calls[0].claimed_until);
}

TEST_F(PendingCallsTest, AClaimedCallTakesAnswersOfItsClaimantOnly) {
  std::vector<std::string> ids = offered();

  PendingCall claimed = claim(ids[0], seconds(10)).value();
  Result<PendingCall> second = claim(ids[0], seconds(10));
  Result<void> foreign = answer(ids[0], "");

  EXPECT_EQ(claimed.claimed_until, disk.clock.now() + seconds(10));
  EXPECT_EQ(pending().size(), 1U);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().reason(), "claimed");
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().reason(), "claimed");
  EXPECT_TRUE(answer(ids[0], claimed.box.claim_id));
  EXPECT_EQ(claim(ids[0], seconds(1)).error().reason(), "unknown_tool_use");
}

TEST_F(PendingCallsTest, AClaimThatRunsOutOffersTheCallToOthers) {
  std::vector<std::string> ids = offered();
  ASSERT_TRUE(claim(ids[0], seconds(10)));
  ASSERT_TRUE(claim(ids[1], seconds(20)));
  std::optional<Calls> found;
  struct Worker {
    static Task<void> look(World* world, std::optional<Calls>* out) {
      *out = co_await world->engine.pending_calls(unclaimed(), seconds(60));
    }
  };
  world.tasks.spawn("worker", Worker::look(&world, &found));
  pass(seconds(9));
  EXPECT_FALSE(found);

  pass(seconds(1));

  ASSERT_TRUE(found);
  ASSERT_EQ(found->value().size(), 1U);
  EXPECT_EQ(found->value()[0].box.slot, ids[0]);
  EXPECT_TRUE(claim(ids[0], seconds(10)));
}

TEST_F(PendingCallsTest, AClaimIsExtendedAndLostOnceAnotherHasIt) {
  std::vector<std::string> ids = offered();
  std::string mine = claim(ids[0], seconds(10)).value().box.claim_id;
  pass(seconds(8));
  auto extend = [&] {
    return world.result_of(world.engine.extend_claim(someone(), ids[0], mine, seconds(10)));
  };

  EXPECT_EQ(extend().value().claimed_until, disk.clock.now() + seconds(10));
  pass(seconds(10));
  ASSERT_TRUE(claim(ids[0], seconds(10)));

  EXPECT_EQ(extend().error().reason(), "claimed");
}

TEST_F(PendingCallsTest, WhoeverWaitsForWorkIsToldWhenThereIsSome) {
  std::optional<Calls> found;
  struct Worker {
    static Task<void> look(World* world, std::optional<Calls>* out) {
      *out = co_await world->engine.pending_calls(unclaimed(), seconds(60));
    }
  };
  world.tasks.spawn("worker", Worker::look(&world, &found));
  world.settle();
  ASSERT_FALSE(found);

  offered();
  world.settle();

  ASSERT_TRUE(found);
  EXPECT_FALSE(found->value().empty());
}

TEST_F(PendingCallsTest, OnlyThoseWhoWantACallLookForIt) {
  struct Worker {
    static Task<void> look(World* world, CallFilter filter) {
      auto found = co_await world->engine.pending_calls(std::move(filter), seconds(60));
      EXPECT_TRUE(found);
    }
  };
  CallFilter other_tool = unclaimed();
  other_tool.name = "listen";
  CallFilter other_workspace = unclaimed();
  other_workspace.workspace = *WorkspaceSlug::parse("elsewhere");
  world.tasks.spawn("worker", Worker::look(&world, other_tool));
  world.tasks.spawn("worker", Worker::look(&world, other_workspace));
  world.settle();

  offered();
  world.settle();

  EXPECT_EQ(world.engine.counters().call_looks, 2U);
  world.engine.drain();
  world.settle();
}

TEST_F(PendingCallsTest, AClaimThatRunsOutWakesOnlyThoseWhoWantTheCall) {
  std::vector<std::string> ids = offered();
  for (const std::string& id : ids) ASSERT_TRUE(claim(id, seconds(3)));
  struct Worker {
    static Task<void> look(World* world, CallFilter filter) {
      auto found = co_await world->engine.pending_calls(std::move(filter), seconds(60));
      EXPECT_TRUE(found);
    }
  };
  CallFilter other_tool = unclaimed();
  other_tool.name = "listen";
  world.tasks.spawn("worker", Worker::look(&world, other_tool));
  world.tasks.spawn("worker", Worker::look(&world, unclaimed()));
  world.settle();
  const auto before = world.engine.counters().call_looks;

  pass(seconds(3));

  EXPECT_EQ(world.engine.counters().call_looks - before, 1U);
  world.engine.drain();
  world.settle();
}

TEST_F(PendingCallsTest, WhoeverIsNotWantedAnyMoreLeavesWithoutAnotherLook) {
  bool is_wanted = true;
  std::optional<Calls> left;
  std::optional<Calls> stayed;
  struct Worker {
    static Task<void> look(World* world, std::shared_ptr<CallPoll> poll,
                           std::optional<Calls>* out) {
      *out = co_await world->engine.pending_calls(unclaimed(), seconds(60), std::move(poll));
    }
  };
  auto poll = std::make_shared<CallPoll>([&is_wanted] { return is_wanted; });
  world.tasks.spawn("worker", Worker::look(&world, poll, &left));
  world.tasks.spawn("worker", Worker::look(&world, {}, &stayed));
  world.settle();

  is_wanted = false;
  world.engine.recheck_waits();
  world.settle();

  ASSERT_TRUE(left);
  EXPECT_TRUE(left->value().empty());
  EXPECT_FALSE(stayed);
  EXPECT_EQ(world.engine.counters().call_looks, 2U);
  world.engine.drain();
  world.settle();
}

TEST_F(PendingCallsTest, WhoeverLeavesWakesNobodyElse) {
  constexpr int kWorkers = 200;
  bool is_wanted = true;
  int are_asked = 0;
  struct Worker {
    static Task<void> look(World* world, std::shared_ptr<CallPoll> poll) {
      EXPECT_TRUE(co_await world->engine.pending_calls(unclaimed(), seconds(60), std::move(poll)));
    }
  };
  auto leaver = std::make_shared<CallPoll>([&is_wanted] { return is_wanted; });
  world.tasks.spawn("worker", Worker::look(&world, leaver));
  for (int i = 0; i < kWorkers; ++i) {
    auto stays = [&are_asked] { return ++are_asked > 0; };
    world.tasks.spawn("worker", Worker::look(&world, std::make_shared<CallPoll>(stays)));
  }
  world.settle();

  are_asked = 0;
  is_wanted = false;
  leaver->recheck();
  world.settle();
  EXPECT_EQ(are_asked, 0);

  leaver->recheck();  // nobody waits with it any more
  world.engine.drain();
  world.settle();
}

TEST_F(PendingCallsTest, NothingIsKeptOfAClaimThatIsOver) {
  std::vector<std::string> ids = offered();
  std::string first = claim(ids[0], std::chrono::hours(1)).value().box.claim_id;
  ASSERT_TRUE(claim(ids[1], std::chrono::hours(1)));
  EXPECT_EQ(world.engine.claims(), 2U);

  ASSERT_TRUE(answer(ids[0], first));
  pass(milliseconds(100));  // the call is closed with a commit that may wait for others
  EXPECT_EQ(world.engine.claims(), 1U);
  ASSERT_TRUE(world.result_of(world.engine.cancel(someone(), *client.run)));
  pass(seconds(3));
  EXPECT_EQ(world.engine.claims(), 0U);
}

TEST_F(PendingCallsTest, WaitingForWorkEndsWithPatienceAndWithTheServer) {
  std::optional<Calls> patient;
  std::optional<Calls> brief;
  struct Worker {
    static Task<void> look(World* world, milliseconds patience, std::optional<Calls>* out) {
      *out = co_await world->engine.pending_calls(unclaimed(), patience);
    }
  };
  world.tasks.spawn("worker", Worker::look(&world, seconds(60), &patient));
  world.tasks.spawn("worker", Worker::look(&world, seconds(7), &brief));
  pass(seconds(7));
  EXPECT_TRUE(brief);
  EXPECT_FALSE(patient);

  world.engine.drain();
  world.settle();

  ASSERT_TRUE(patient);
  EXPECT_TRUE(patient->value().empty());
}

TEST_F(PendingCallsTest, ATimeoutWinsOverAClaim) {
  std::vector<std::string> ids = offered();
  ASSERT_TRUE(claim(ids[0], std::chrono::hours(1)));

  world.run_until([this] { return client.done; });

  EXPECT_NE(client.seen.back().find("error_local_tool_timeout"), std::string::npos);
}

TEST_F(PendingCallsTest, AreListedInTheRunUntilTheyAreAnswered) {
  std::vector<std::string> ids = offered();
  ASSERT_TRUE(answer(ids[0], ""));

  RunView view = world.result_of(world.engine.get(someone(), *client.run)).value();

  ASSERT_EQ(view.pending.size(), 1U);
  EXPECT_EQ(view.pending[0].box.slot, ids[1]);
}

TEST_F(PendingCallsTest, AnswersAreCommittedWithTheTurnThatReadsThem) {
  std::vector<std::string> ids = offered();
  const auto before = world.engine.counters().appends;

  for (const std::string& id : ids) ASSERT_TRUE(answer(id, ""));
  world.run_until([this] { return client.done; });

  EXPECT_EQ(world.engine.counters().appends - before, 1U);
}

}  // namespace
}  // namespace errand::engine::testing::pending_calls_test
