#include "store/sqlite/migration.hpp"

#include "store/sqlite/test_old_database.hpp"
#include "store/sqlite/upkeep/verify.hpp"
#include "store/store_contract_session_setup.hpp"

namespace errand::migration_test {
namespace {

using namespace store_contract;
using std::chrono::hours;
using Findings = std::vector<std::string>;

// What a program that knew only the first version has written: a run that waits for two calls, one
// of them answered, and one that has ended. Both were made with a key a minute ago.
constexpr const char* kVersion1Rows = R"sql(
UPDATE meta SET value = 7 WHERE key = 'boot_epoch';
INSERT INTO runs VALUES
  ('default', 'run_1001', 2, 0, 1, 2, 7, 1699999940000, 1699999940001, 'waits', 'demo', '{}'),
  ('default', 'run_1002', 3, 1, 1, 2, 7, 1699999940000, 1699999940001, 'ended', 'demo', '{}');
INSERT INTO segments VALUES
  ('run_1001', 0, 0, 0, 1699999940000, CAST('{"j":1}' AS BLOB), x''),
  ('run_1001', 1, 1, 1, 1699999940001, x'', CAST('{"seq":1}' AS BLOB)),
  ('run_1002', 0, 0, 0, 1699999940000, CAST('{"j":2}' AS BLOB), x''),
  ('run_1002', 1, 1, 1, 1699999940001, x'', CAST('{"seq":1}' AS BLOB));
INSERT INTO mail VALUES
  ('run_1001', 'tu_a', 0, 'lookup', 1500, 9999, 0, x''),
  ('run_1001', 'tu_b', 0, 'lookup', 1500, 9999, 1, CAST('done' AS BLOB));
INSERT INTO idempotency VALUES
  ('default', 'key 1', 'run_1001', CAST('same' AS BLOB), 1699999940000),
  ('default', 'key 2', 'run_1002', CAST('same' AS BLOB), 1699999940000);
)sql";

// A store that has been opened on a database of an old version.
class MigrationTest : public testing::TestWithParam<std::size_t> {
 protected:
  MigrationTest() {
    file_.close();
    make_old_database(file_.path(), 1, kVersion1Rows);
    bring_old_database_to(file_.path(), GetParam());
    file_.reopen();
  }
  Store& store() { return file_.store(); }

  SqliteFile file_;
};

Mailbox old_mailbox(std::string slot) {
  return {.run = run_id(1),
          .slot = std::move(slot),
          .kind = MailKind::tool_result,
          .name = "lookup",
          .opened_at = from_millis(1500)};
}

TEST_P(MigrationTest, ARunIsClaimedWithItsMailAndTimeToGoOn) {
  auto claimed = wait_for(store().claim({.limit = 10, .grace = seconds(30)})).value().runs;

  Mailbox open = old_mailbox("tu_a");
  open.deadline = StoreTime(seconds(30));
  ASSERT_EQ(claimed.size(), 1U);
  EXPECT_EQ(claimed[0].row.id, run_id(1));
  EXPECT_EQ(claimed[0].row.epoch, 8);
  EXPECT_EQ(claimed[0].row.ends_by, StoreTime(hours(24)));
  EXPECT_EQ(claimed[0].row.format, 1);
  EXPECT_EQ(claimed[0].was_left, false);
  EXPECT_EQ(claimed[0].mail, (std::vector{open, filled(old_mailbox("tu_b"), "done")}));
  EXPECT_EQ(wait_for(store().pending_calls({.workspace = workspace()})).value(), std::vector{open});
}

TEST_P(MigrationTest, TheBackupHasTheOldVersionAndAllRuns) {
  const std::string backup = cat(file_.path(), ".schema", GetParam(), ".bak");
  auto database = sqlite::Database::open(backup, sqlite::Database::Access::frozen).value();

  EXPECT_EQ(database->integer("PRAGMA user_version").value(),
            static_cast<std::int64_t>(GetParam()));
  EXPECT_EQ(database->integer("SELECT count(*) FROM runs").value(), 2);
}

TEST_P(MigrationTest, LogsAreWhole) {
  auto log = wait_for(store().read_log(run_key(1), -1, 1 << 20)).value();

  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0]->journal, "{\"j\":1}");
  EXPECT_EQ(log[1]->events, "{\"seq\":1}");
  EXPECT_EQ(read_journal(store(), run_key(2)), "{\"j\":2}");
  EXPECT_EQ(wait_for(store().read_events(run_key(2), 0, 1 << 20)).value().size(), 1U);
  EXPECT_EQ(wait_for(store().all_runs({}, 10)).value().size(), 2U);
  EXPECT_EQ(sqlite::verify(file_.path()).value(), Findings());
}

TEST_P(MigrationTest, LogsGoOnAndAreRemovedAsAWhole) {
  const auto epoch = wait_for(store().claim({.limit = 10})).value().runs.at(0).row.epoch;
  ASSERT_TRUE(file_.append(commit_of(1, epoch, events_segment(2, 2, 1))));
  ASSERT_TRUE(file_.append(commit_of(1, epoch, events_segment(3, 3, 1))));
  EXPECT_EQ(wait_for(store().read_log(run_key(1), -1, 1 << 20)).value().size(), 4U);

  ASSERT_TRUE(file_.append(last_commit(1, epoch, events_segment(4, 4, 1))));
  EXPECT_EQ(wait_for(store().read_log(run_key(1), -1, 1 << 20)).value().size(), 5U);
  EXPECT_EQ(sqlite::verify(file_.path()).value(), Findings());

  const Prune step = everything_ended(store(), 2);
  while (!wait_for(store().prune(step)).value().is_done) {
    EXPECT_EQ(sqlite::verify(file_.path()).value(), Findings());
  }
  auto reader = sqlite::Database::open(file_.path(), sqlite::Database::Access::read).value();
  EXPECT_EQ(reader->integer("SELECT count(*) FROM segments").value(), 0);
}

TEST_P(MigrationTest, LogsAreMergedOnceTheyEnded) {
  const auto epoch = wait_for(store().claim({.limit = 10})).value().runs.at(0).row.epoch;
  ASSERT_TRUE(file_.append(last_commit(1, epoch, events_segment(2, 2, 1))));
  file_.clock().pass(hours(1));
  ASSERT_TRUE(wait_for(store().prune({.segments_max = 100})).value().is_done);

  auto log = wait_for(store().read_log(run_key(1), -1, 1 << 20)).value();
  ASSERT_EQ(log.size(), 1U);
  EXPECT_EQ(log[0]->journal, "{\"j\":1}{\"n\":2}\n");
  EXPECT_EQ(log[0]->events, "{\"seq\":1}{\"seq\":2}\n");
  EXPECT_EQ(sqlite::verify(file_.path()).value(), Findings());
}

TEST_P(MigrationTest, KeysAreKnownUntilTheirRunIsRemoved) {
  const Prune everything = everything_ended(store(), 100);
  EXPECT_EQ(wait_for(store().create(keyed_run(3, "key 1", "same"))).value().run, run_id(1));
  EXPECT_EQ(wait_for(store().create(keyed_run(3, "key 2", "same"))).value().run, run_id(2));

  EXPECT_EQ(wait_for(store().prune(everything)).value().runs, 1U);

  EXPECT_EQ(wait_for(store().create(keyed_run(3, "key 1", "same"))).value().run, run_id(1));
  EXPECT_EQ(wait_for(store().create(keyed_run(3, "key 2", "same"))).value().kind,
            Creation::created);
}

TEST_P(MigrationTest, TakesBlobsLabelsAndRecords) {
  NewRun run = new_run(3);
  run.row.metadata = R"({"team":"red"})";
  run.effects.blobs = {{.hash = "h1", .bytes = std::make_shared<const std::string>("bytes")}};

  ASSERT_TRUE(wait_for(store().create(run)));
  ASSERT_TRUE(wait_for(store().change_records(
      {{.key = {.workspace = workspace(), .kind = "note", .id = "a"}, .body = "{}"}})));

  EXPECT_EQ(wait_for(store().read_blob(run_key(3), "h1")).value(), "bytes");
  EXPECT_FALSE(wait_for(store().read_blob(run_key(1), "h1")));
  EXPECT_EQ(sqlite::verify(file_.path()).value(), Findings());
}

INSTANTIATE_TEST_SUITE_P(FromVersion, MigrationTest, testing::Values(1, 2, 3, 4));

// What a program of version 4 has left after it had served for 5000 s: a run that waits, one that
// ended 40 days before, one that failed in another workspace and has the same file, and the rest of
// one that was being removed. Then nobody served it for three days.
constexpr const char* kVersion4Rows = R"sql(
UPDATE meta SET value = 7 WHERE key = 'boot_epoch';
UPDATE meta SET value = 5000000 WHERE key = 'clock';
INSERT INTO runs VALUES
  ('default', 'run_1001', 2, 0, 1, 2, 7, 1699996400000, 1699999999000, 'waits', 'demo',
   '{"team":"red","n":7}', 1700003600000, 1699996400000, 2),
  ('default', 'run_1002', 3, 1, 1, 2, 7, 1696543999000, 1696544000000, 'old', 'demo',
   '{"team":"red"}', 1696630399000, 0, 4),
  ('other', 'run_1003', 4, 1, 1, 2, 7, 1699999990000, 1699999995000, 'failed', 'demo', '{}',
   1700086390000, 1699999990000, 6);
INSERT INTO segments VALUES
  (1, 'run_1001', 0, 0, 0, 1699996400000, 1, 0, CAST('{"j":1}' AS BLOB), x''),
  (2, 'run_1001', 1, 1, 1, 1699999999000, 0, 1, x'', CAST('{"seq":1}' AS BLOB)),
  (3, 'run_1002', 0, 0, 0, 1696543999000, 1, 0, CAST('{"j":2}' AS BLOB), x''),
  (4, 'run_1002', 1, 1, 1, 1696544000000, 1, 3, x'', CAST('{"seq":1}' AS BLOB)),
  (5, 'run_1003', 0, 0, 0, 1699999990000, 1, 0, CAST('{"j":3}' AS BLOB), x''),
  (6, 'run_1003', 1, 1, 1, 1699999995000, 1, 5, x'', CAST('{"seq":1}' AS BLOB)),
  (7, 'run_1004', 0, 0, 0, 1696543999000, 1, 0, CAST('{"j":4}' AS BLOB), x'');
INSERT INTO doomed VALUES ('run_1004', 7);
INSERT INTO blobs VALUES ('h1', CAST('shared' AS BLOB)), ('h2', CAST('doomed' AS BLOB));
INSERT INTO blob_users VALUES ('run_1001', 'h1'), ('run_1003', 'h1'), ('run_1004', 'h2');
INSERT INTO mail VALUES
  ('run_1001', 'tu_a', 'default', 0, 'lookup', 0, 1500, 5060000, 0, '', 0, x'', x'');
INSERT INTO idempotency VALUES
  ('default', 'key 1', 'run_1001', CAST('same' AS BLOB), 1699996400000),
  ('default', 'old key', 'run_1002', CAST('same' AS BLOB), 1696543999000),
  ('other', 'key 3', 'run_1003', CAST('same' AS BLOB), 1699999990000);
INSERT INTO api_keys VALUES ('key_1', 'default', 'ci', 'hash', 'ek_12', 1000, NULL);
)sql";

class MigrationFrom4Test : public testing::Test {
 protected:
  MigrationFrom4Test() {
    file_.close();
    make_old_database(file_.path(), 4, kVersion4Rows);
    file_.clock().pass(hours(72));
    file_.reopen();
  }
  SqliteStore& store() { return file_.store(); }
  std::vector<RunId> listed(RunFilter filter) {
    std::vector<RunId> out;
    for (const RunRow& row : wait_for(store().list(std::move(filter))).value()) {
      out.push_back(row.id);
    }
    return out;
  }
  std::int64_t integer(const char* sql) {
    auto reader = sqlite::Database::open(file_.path(), sqlite::Database::Access::read).value();
    return reader->integer(sql).value();
  }

  SqliteFile file_;
};

constexpr StoreTime kServed{seconds(5000)};

TEST_F(MigrationFrom4Test, ARunThatWaitsHasItsTimeAndItsMailAsTheyWere) {
  RunRow row = wait_for(store().find(run_key(1))).value();
  Mailbox open = old_mailbox("tu_a");
  open.deadline = kServed + seconds(60);

  EXPECT_EQ(store().now(), kServed);
  EXPECT_EQ(row.ends_by, kServed + hours(2)) << "all of it";
  EXPECT_EQ(row.status, RunStatus::waiting);
  EXPECT_EQ(row.format, 1);
  EXPECT_EQ(wait_for(store().mailboxes(run_key(1))).value(), std::vector{open});
  EXPECT_EQ(sqlite::verify(file_.path()).value(), Findings());
}

TEST_F(MigrationFrom4Test, AKeyIsKeptForTheServedTimeThatItHadLeft) {
  // It was 3599 s old when the store was last written to.
  file_.clock().pass(kIdempotencyKept - seconds(3599) - milliseconds(1));
  EXPECT_EQ(wait_for(store().create(keyed_run(9, "key 1", "same"))).value().run, run_id(1));
  file_.clock().pass(milliseconds(1));
  EXPECT_EQ(wait_for(store().create(keyed_run(9, "key 1", "same"))).value().kind,
            Creation::created);
}

TEST_F(MigrationFrom4Test, AKeyThatWasOverBeforeIsAsNew) {
  EXPECT_EQ(wait_for(store().create(keyed_run(9, "old key", "other"))).value().kind,
            Creation::created);
}

TEST_F(MigrationFrom4Test, RunsThatEndedAreRemovedByTheServedTimeSince) {
  EXPECT_EQ(wait_for(store().prune({.segments_max = 100})).value().runs, 0U);
  EXPECT_EQ(
      wait_for(store().prune({.ended_before = store().now() - hours(24 * 39), .segments_max = 100}))
          .value()
          .runs,
      1U);

  EXPECT_FALSE(wait_for(store().find(run_key(2))));
  EXPECT_TRUE(wait_for(store().find(run_key(3, "other"))));
  EXPECT_EQ(integer("SELECT ended_at FROM runs WHERE id = 'run_1003'"),
            (kServed - seconds(4)).time_since_epoch().count());
  EXPECT_EQ(sqlite::verify(file_.path()).value(), Findings());
}

TEST_F(MigrationFrom4Test, RunsAreListedByStatusAndMetadata) {
  EXPECT_EQ(listed({.workspace = workspace(), .metadata = {{"team", "red"}}}),
            (std::vector{run_id(2), run_id(1)}));
  EXPECT_EQ(listed({.workspace = workspace("other"), .status = RunStatus::failed}),
            std::vector{run_id(3)});
  EXPECT_EQ(listed({.workspace = workspace(), .status = RunStatus::running}),
            std::vector{run_id(1)});
}

TEST_F(MigrationFrom4Test, FilesBelongToEachWorkspaceThatHadThem) {
  EXPECT_EQ(wait_for(store().read_blob(run_key(1), "h1")).value(), "shared");
  EXPECT_EQ(wait_for(store().read_blob(run_key(3, "other"), "h1")).value(), "shared");
  Prune everything = everything_ended(store(), 100);
  while (!wait_for(store().prune(everything)).value().is_done) {
  }

  EXPECT_EQ(wait_for(store().read_blob(run_key(1), "h1")).value(), "shared");
  EXPECT_EQ(integer("SELECT count(*) FROM blobs"), 1);
  EXPECT_EQ(integer("SELECT count(*) FROM segments"), 2);
  EXPECT_EQ(sqlite::verify(file_.path()).value(), Findings());
}

TEST_F(MigrationFrom4Test, KeysOfTheApiAreKept) {
  EXPECT_EQ(wait_for(store().list_keys()).value().size(), 1U);
}

TEST(Migration, AClockThatIsWrongWhileRowsAreRewrittenForgetsNothing) {
  for (milliseconds jump : {milliseconds(hours(24 * 1000)), milliseconds(-hours(24 * 1000))}) {
    SqliteFile file;
    file.close();
    make_old_database(file.path(), 4, kVersion4Rows);
    file.clock().jump(jump);
    file.reopen();

    EXPECT_EQ(wait_for(file.store().create(keyed_run(9, "key 1", "same"))).value().run, run_id(1));
    EXPECT_EQ(wait_for(file.store().find(run_key(1))).value().ends_by, kServed + hours(2));
    EXPECT_EQ(wait_for(file.store().prune({.ended_before = file.store().now() - hours(24 * 41),
                                           .segments_max = 100}))
                  .value()
                  .runs,
              0U);
    EXPECT_EQ(sqlite::verify(file.path()).value(), Findings());
  }
}

// One session has a label and a history, the other has neither.
constexpr const char* kVersion10Sessions = R"sql(
INSERT INTO sessions VALUES
  ('default', 'sess_1001', 0, 1699999940000, 1699999940000, NULL, 2, ''),
  ('default', 'sess_1002', 1, 1699999940000, 1699999950000, 1699999960000, 0, '');
INSERT INTO session_settings VALUES
  ('default', 'sess_1001', 'one', '{"team":"red"}', x''),
  ('default', 'sess_1002', 'two', '{}', x'');
INSERT INTO session_labels VALUES ('default', 'team', 'red', 'sess_1001');
INSERT INTO session_label_uses VALUES ('default', 'team', 'red', 1699999940000, 'sess_1001');
INSERT INTO session_history VALUES
  ('default', 'sess_1001', 1, 'run_1', CAST('hello' AS BLOB)),
  ('default', 'sess_1001', 2, 'run_1', CAST('world' AS BLOB));
INSERT INTO session_sizes VALUES ('default', 'sess_1001', 10);
)sql";

TEST(Migration, SessionsKeepTheSizeOfTheirHistoryAndTheirLabels) {
  SqliteFile file;
  file.close();
  make_old_database(file.path(), 10, kVersion10Sessions);
  file.reopen();
  EXPECT_EQ(sqlite::verify(file.path()).value(), Findings());

  EXPECT_EQ(wait_for(file.store().find_session(session_key(1))).value().history_bytes, 10);
  wait_for(file.store().create(session_run(1))).value();
  EXPECT_EQ(sqlite::verify(file.path()).value(), Findings()) << "its label is moved";
}

}  // namespace
}  // namespace errand::migration_test
