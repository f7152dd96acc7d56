#include <fstream>

#include "store/sqlite/file/database.hpp"
#include "store/sqlite/schema.hpp"
#include "store/sqlite/sqlite_fixture.hpp"
#include "store/sqlite/upkeep/verify.hpp"

namespace errand {
namespace {

using namespace store_contract;

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

// A store that has been opened on a database of the first version.
class MigrationTest : public testing::Test {
 protected:
  MigrationTest() {
    file_.close();
    std::filesystem::remove(file_.path());
    std::ofstream(file_.path()).close();
    {
      auto old = sqlite::Database::open(file_.path(), sqlite::Database::Access::write).value();
      EXPECT_TRUE(sqlite::migrate(*old, sqlite::schema().first(1), from_millis(kStart)));
      EXPECT_TRUE(old->execute(kVersion1Rows));
    }
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

TEST_F(MigrationTest, ARunIsClaimedWithItsMailAndTimeToGoOn) {
  auto claimed = wait_for(store().claim({.limit = 10, .grace = seconds(30)})).value().runs;

  Mailbox open = old_mailbox("tu_a");
  open.deadline = StoreTime(seconds(30));
  ASSERT_EQ(claimed.size(), 1U);
  EXPECT_EQ(claimed[0].row.id, run_id(1));
  EXPECT_EQ(claimed[0].row.epoch, 8);
  EXPECT_EQ(claimed[0].row.ends_by, StoreTime(std::chrono::hours(24)));
  EXPECT_EQ(claimed[0].mail, (std::vector{open, filled(old_mailbox("tu_b"), "done")}));
  EXPECT_EQ(wait_for(store().pending_calls({.workspace = workspace()})).value(), std::vector{open});
}

TEST_F(MigrationTest, LogsAreWhole) {
  auto log = wait_for(store().read_log(run_key(1), 0, 1 << 20)).value();

  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0]->journal, "{\"j\":1}");
  EXPECT_EQ(log[1]->events, "{\"seq\":1}");
  EXPECT_EQ(wait_for(store().all_runs({}, 10)).value().size(), 2U);
}

TEST_F(MigrationTest, LogsGoOnAndAreRemovedAsAWhole) {
  const auto epoch = wait_for(store().claim({.limit = 10})).value().runs.at(0).row.epoch;
  ASSERT_TRUE(file_.append(commit_of(1, epoch, events_segment(2, 2, 1))));
  ASSERT_TRUE(file_.append(commit_of(1, epoch, events_segment(3, 3, 1))));
  EXPECT_EQ(wait_for(store().read_log(run_key(1), 0, 1 << 20)).value().size(), 4U);

  ASSERT_TRUE(file_.append(last_commit(1, epoch, events_segment(4, 4, 1))));
  EXPECT_EQ(wait_for(store().read_log(run_key(1), 0, 1 << 20)).value().size(), 5U);
  EXPECT_EQ(sqlite::verify(file_.path()).value(), std::vector<std::string>());

  const Prune step = everything_ended(file_.store(), 2);
  while (!wait_for(store().prune(step)).value().is_done) {
    EXPECT_EQ(sqlite::verify(file_.path()).value(), std::vector<std::string>());
  }
  auto reader = sqlite::Database::open(file_.path(), sqlite::Database::Access::read).value();
  EXPECT_EQ(reader->integer("SELECT count(*) FROM segments").value(), 0);
}

TEST_F(MigrationTest, KeysAreKnownUntilTheirRunIsRemoved) {
  const Prune everything = everything_ended(file_.store(), 100);
  EXPECT_EQ(wait_for(store().create(keyed_run(3, "key 1", "same"))).value().run, run_id(1));
  EXPECT_EQ(wait_for(store().create(keyed_run(3, "key 2", "same"))).value().run, run_id(2));

  EXPECT_EQ(wait_for(store().prune(everything)).value().runs, 1U);

  EXPECT_EQ(wait_for(store().create(keyed_run(3, "key 1", "same"))).value().run, run_id(1));
  EXPECT_EQ(wait_for(store().create(keyed_run(3, "key 2", "same"))).value().kind,
            Creation::created);
}

// What a program that knew the second version has written: a run that has ended.
constexpr const char* kVersion2Rows = R"sql(
INSERT INTO runs VALUES ('default', 'run_1001', 3, 1, 0, 1, 7, 1699999940000, 1699999940001,
                         'ended', 'demo', '{}', 1700086340000, 0);
INSERT INTO segments VALUES ('run_1001', 0, 0, 0, 1699999940000, CAST('{"j":1}' AS BLOB), x'');
)sql";

TEST(Migration, ADatabaseWithoutBlobsTakesSome) {
  SqliteFile file;
  file.close();
  std::filesystem::remove(file.path());
  std::ofstream(file.path()).close();
  {
    auto old = sqlite::Database::open(file.path(), sqlite::Database::Access::write).value();
    ASSERT_TRUE(sqlite::migrate(*old, sqlite::schema().first(2), from_millis(kStart)));
    ASSERT_TRUE(old->execute(kVersion2Rows));
  }
  file.reopen();
  NewRun run = new_run(2);
  run.effects.blobs = {{.hash = "h1", .bytes = std::make_shared<const std::string>("bytes")}};

  ASSERT_TRUE(wait_for(file.store().create(run)));

  EXPECT_EQ(wait_for(file.store().read_blob(run_key(2), "h1")).value(), "bytes");
  EXPECT_EQ(wait_for(file.store().read_journal(run_key(1))).value(), "{\"j\":1}");
  EXPECT_FALSE(wait_for(file.store().read_blob(run_key(1), "h1")));
}

}  // namespace
}  // namespace errand
