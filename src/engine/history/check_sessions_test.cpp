// What a store holds of sessions is what the logs of their runs say.
#include <cstdint>

#include "engine/flows/test_session.hpp"

namespace errand::engine::testing::check_sessions_test {
namespace {

using Rules = std::vector<std::string>;

constexpr std::string_view kSlow = R"({"turns":[{"delayMs":60000,"text":["at last"]}]})";
// The second run of a session takes long, or says the same as the first one at once.
constexpr std::string_view kSlowAgain =
    R"({"turns":[{"text":["done"]},{"delayMs":60000,"text":["done"]}]})";
constexpr std::string_view kAgain = R"({"turns":[{"text":["done"]},{"text":["done"]}]})";
// By then it is in the journal that the model was asked.
constexpr milliseconds kAsked{1000};

struct CheckSessionsTest : SessionTest {
  // A commit of a run's owner that the owner has not made.
  void append(const RunId& run, RunStatus status, std::vector<std::string> history) {
    const StoredRun stored = stored_run(disk, run);
    Segment segment{.last_seq = stored.row.last_seq,
                    .n = stored.row.segments,
                    .at = stored.segments.back()->at};
    auto done = read_disk<Appended>(disk, [&](Store* store) {
      return store->append({.key = key_of(run),
                            .epoch = stored.row.epoch,
                            .expected_seq = stored.row.last_seq,
                            .segment = std::make_shared<const Segment>(segment),
                            .status = status,
                            .effects = {.history = std::move(history)}});
    });
    EXPECT_FALSE(done.refused);
  }
  // The history as it is kept.
  std::vector<std::string> bodies() {
    const SessionKey key{.workspace = someone().workspace, .session = session};
    auto entries = read_disk<std::vector<SessionEntry>>(
        disk, [&](Store* store) { return store->read_history(key, 0, INT64_MAX, SIZE_MAX); });
    std::vector<std::string> texts;
    for (const SessionEntry& entry : entries) texts.push_back(entry.body);
    return texts;
  }
  Rules broken_rules() {
    auto report =
        read_disk<CheckReport>(disk, [](Store* store) { return check_store(store, nullptr); });
    Rules rules;
    for (const Finding& finding : report.findings) rules.push_back(finding.rule);
    return rules;
  }
};

TEST_F(CheckSessionsTest, ARunThatHasNotSucceededHasNoEntries) {
  RunId run;
  {
    World world(disk, kSlow);
    begin(world);
    run = send(world, "slow").value();
  }
  EXPECT_EQ(broken_rules(), Rules());

  append(run, RunStatus::running, {R"({"role":"user","text":"made up"})"});

  EXPECT_EQ(broken_rules(), Rules{"session_history"});
}

// What the run adds is in the history twice.
TEST_F(CheckSessionsTest, ARunHasNoEntriesBehindItsOwn) {
  RunId run;
  {
    World world(disk, kSlowAgain);
    begin(world);
    ASSERT_TRUE(send(world, "Hi"));
    world.settle();
    run = send(world, "Hi").value();
    pass(disk, {&world}, kAsked);
  }
  append(run, RunStatus::running, bodies());
  {
    World world(disk, kAgain);
    world.tasks.spawn("recover", world.engine.recover());
    pass(disk, {&world}, seconds(5));
    ASSERT_EQ(status(world, run), "succeeded");
  }

  EXPECT_EQ(bodies().size(), 6U);
  EXPECT_EQ(findings_of(disk),
            (Lines{cat(run.view(), " session_history: entry 5 of the history of session ",
                       session.view(), " has no place in it")}));
}

// The store gave the turn to the run that waits, but the log of the one before goes on.
TEST_F(CheckSessionsTest, ARunThatHasBegunHasTheTurn) {
  RunId first;
  {
    World world(disk, kSlow);
    begin(world);
    first = send(world, "first").value();
    ASSERT_TRUE(send(world, "second"));
    pass(disk, {&world}, kAsked);
  }
  EXPECT_EQ(broken_rules(), Rules());

  append(first, RunStatus::failed, {});

  EXPECT_EQ(broken_rules(), (Rules{"row_status", "session_turn"}));
}

// The store says that both runs have ended, but their logs wait for the model.
TEST_F(CheckSessionsTest, NoRunWaitsWhileNobodyHasTheTurn) {
  std::vector<RunId> runs;
  {
    World world(disk, kSlow);
    begin(world);
    for (const char* text : {"first", "second"}) runs.push_back(send(world, text).value());
  }
  for (const RunId& run : runs) append(run, RunStatus::failed, {});

  EXPECT_EQ(broken_rules(), (Rules{"row_status", "row_status", "session_turn"}));
}

}  // namespace
}  // namespace errand::engine::testing::check_sessions_test
