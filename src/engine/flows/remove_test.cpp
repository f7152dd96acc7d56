// Runs and sessions that are removed on request.
#include "engine/flows/test_session.hpp"

namespace errand::engine::testing::remove_test {
namespace {

struct RemoveTest : SessionTest {
  static constexpr std::string_view kSlow =
      R"({"turns":[{"text":["First."],"delayMs":1000},{"text":["Second."]}]})";

  std::string reason_of(const Result<void>& done) {
    if (done) return "removed";
    return done.error().reason().empty() ? std::string(to_string(done.error().code()))
                                         : done.error().reason();
  }
  std::string remove_run(World& world, const RunId& run) {
    return reason_of(world.result_of(world.engine.remove_run(someone(), run)));
  }
  std::string remove_session(World& world) {
    return reason_of(world.result_of(world.engine.remove_session(someone(), session)));
  }
};

TEST_F(RemoveTest, OnlyAnEndedRunIsRemoved) {
  World world(disk, kSlow);
  Spec spec = spec_with_tools({});
  RunId run = *world.result_of(world.engine.create(someone(), spec, {}));
  EXPECT_EQ(remove_run(world, run), "run_active");
  world.pass(milliseconds(1100));
  EXPECT_EQ(remove_run(world, run), "removed");
  EXPECT_EQ(remove_run(world, run), "not_found");
  EXPECT_EQ(world.result_of(world.engine.get(someone(), run)).error().code(), ErrorCode::not_found);
  check();
}

TEST_F(RemoveTest, RunsOfOthersAreNotFound) {
  World world(disk, kSlow);
  RunId run = *world.result_of(world.engine.create(someone(), spec_with_tools({}), {}));
  world.pass(milliseconds(1100));
  Principal stranger{.workspace = *WorkspaceSlug::parse("other"), .key = *KeyId::parse("key_2")};
  EXPECT_EQ(reason_of(world.result_of(world.engine.remove_run(stranger, run))), "not_found");
  EXPECT_EQ(status(world, run), "succeeded");
}

TEST_F(RemoveTest, ASessionGoesWithItsRunsOnceAllOfThemHaveEnded) {
  World world(disk, kSlow);
  begin(world);
  RunId first = *send(world, "One?");
  RunId second = *send(world, "Two?");
  EXPECT_EQ(remove_session(world), "session_active");
  ASSERT_TRUE(world.result_of(world.engine.end_session(someone(), session)));
  EXPECT_EQ(remove_session(world), "session_active") << "a run is being cancelled";
  world.pass(seconds(3));
  EXPECT_EQ(remove_session(world), "removed");
  EXPECT_EQ(remove_session(world), "not_found");
  for (const RunId& run : {first, second}) EXPECT_EQ(remove_run(world, run), "not_found");
  check();
}

// The second attempt goes on where the first one was killed.
TEST_F(RemoveTest, ARemovalThatWasCutOffCanBeAskedForAgain) {
  for (int at = 1;; ++at) {
    disk = Disk();
    {
      World world(disk, R"({"turns":[{"text":["First."]},{"text":["Second."]}]})");
      begin(world);
      ASSERT_TRUE(send(world, "One?"));
      world.settle();
      ASSERT_TRUE(send(world, "Two?"));
      world.settle();
      ASSERT_TRUE(world.result_of(world.engine.end_session(someone(), session)));
    }
    bool has_crashed = false;
    {
      World world(disk, kSlow, Crash{.at = at});
      struct Remover {
        static Task<void> go(World* world, SessionId session) {
          [[maybe_unused]] auto done = co_await world->engine.remove_session(someone(), session);
        }
      };
      world.tasks.spawn("remove", Remover::go(&world, session));
      world.settle();
      has_crashed = world.crash.is_dead();
    }
    check();
    World world(disk, kSlow);
    const std::string again = remove_session(world);
    EXPECT_TRUE(again == "removed" || again == "not_found") << again;
    EXPECT_TRUE(world.result_of(world.engine.list({.workspace = someone().workspace}))->empty());
    if (!has_crashed || HasFailure()) break;
  }
}

TEST_F(RemoveTest, AReaderAheadOfTheLogGoesOnFromItsEnd) {
  World world(disk, kSlow);
  RunId run = *world.result_of(world.engine.create(someone(), spec_with_tools({}), {}));
  auto reader = *world.result_of(world.engine.subscribe(someone(), run, 99));
  world.pass(milliseconds(1100));
  auto live = world.result_of(reader->next(world.timers.now()));
  ASSERT_FALSE(live.segments.empty());
  EXPECT_EQ(live.segments.front()->first_seq(), 1);
  auto again = *world.result_of(world.engine.subscribe(someone(), run, 99));
  auto last = world.result_of(again->next(world.timers.now()));
  EXPECT_EQ(last.state, Subscription::Batch::State::ended);
  EXPECT_EQ(lines_of(last.segments, last.after).size(), 1U);
  auto none = *world.result_of(world.engine.subscribe(someone(), run, 3));
  EXPECT_TRUE(none->is_over());
}

}  // namespace
}  // namespace errand::engine::testing::remove_test
