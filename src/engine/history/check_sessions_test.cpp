// What a store holds of sessions is what the logs of their runs say.
#include "engine/flows/test_session.hpp"

namespace errand::engine::testing::check_sessions_test {
namespace {

using Rules = std::vector<std::string>;

constexpr std::string_view kSlow = R"({"turns":[{"delayMs":60000,"text":["at last"]}]})";

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

}  // namespace
}  // namespace errand::engine::testing::check_sessions_test
