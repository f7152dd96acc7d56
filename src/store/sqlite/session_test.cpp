#include "store/sqlite/changes/change_bytes.hpp"
#include "store/sqlite/file/database.hpp"
#include "store/sqlite/sqlite_fixture.hpp"
#include "store/sqlite/test_old_database.hpp"
#include "store/sqlite/upkeep/verify.hpp"
#include "store/store_contract_session_setup.hpp"

// What sessions take on the disk, and how databases without them get them.
namespace errand::session_test {
namespace {

using namespace store_contract;
using Findings = std::vector<std::string>;

class SqliteSessionTest : public testing::Test {
 protected:
  SqliteStore& store() { return file_.store(); }
  std::uint64_t pages() { return store().counts().pages; }

  SqliteFile file_;
};

TEST_F(SqliteSessionTest, ADatabaseWithoutSessionsGetsThemWithoutABackup) {
  file_.close();
  make_old_database(file_.path(), 4, many_old_runs(10));
  bring_old_database_to(file_.path(), 5);

  file_.reopen();

  EXPECT_FALSE(std::filesystem::exists(file_.path() + ".schema5.bak"));
  EXPECT_EQ(wait_for(store().list({.workspace = workspace()})).value().size(), 10U);
  EXPECT_EQ(wait_for(store().list({.workspace = workspace()})).value()[0].session, SessionId());
  start_session(store(), 2);
  EXPECT_EQ(end_run(store(), 1), run_id(2));
  EXPECT_EQ(sqlite::verify(file_.path()).value(), Findings());
}

TEST_F(SqliteSessionTest, SessionsOfAnOlderDatabaseGetTheirSizesAndPlacesInLists) {
  file_.close();
  make_old_database(file_.path(), 8,
                    "INSERT INTO sessions VALUES ('default', 'sess_1001', 0, 5, 7, NULL, 2, '');"
                    "INSERT INTO session_settings VALUES ('default', 'sess_1001', 'a chat', "
                    "'{\"team\":\"red\"}', x'7b7d');"
                    "INSERT INTO session_labels VALUES ('default', 'team', 'red', 'sess_1001');"
                    "INSERT INTO session_history VALUES ('default', 'sess_1001', 1, 'run_1', "
                    "x'313233'), ('default', 'sess_1001', 2, 'run_1', x'3435');");

  file_.reopen();

  EXPECT_EQ(find_session(store(), 1).history_bytes, 5);
  SessionFilter red{.workspace = workspace(), .metadata = {{"team", "red"}}};
  EXPECT_EQ(wait_for(store().list_sessions(red)).value().size(), 1U);
  EXPECT_EQ(sqlite::verify(file_.path()).value(), Findings());
}

TEST_F(SqliteSessionTest, ARunDoesNotWriteWhatNeverChangesAboutItsSession) {
  NewSession session = new_session(1);
  session.row.spec = std::string(1U << 20, 's');
  ASSERT_TRUE(wait_for(store().create_session(session)));
  const std::uint64_t before = pages();

  create_told(store(), session_run(1));
  create_told(store(), session_run(2));
  Commit end = last_commit(1, store().epoch(), events_segment(1, 1, 1));
  end.effects.history = {"hello", "world"};
  ASSERT_TRUE(file_.append(end));

  EXPECT_LT(pages() - before, 40U);
  EXPECT_EQ(find_session(store(), 1).spec, session.row.spec);
}

TEST(SessionBytes, HistoriesAndSpecsCountTowardsTheLimitOfWaitingWrites) {
  Commit commit = commit_of(1, 1, events_segment(1, 1, 1));
  const std::size_t without = sqlite::bytes_of(commit);
  commit.effects.history = {"12345", "678"};
  NewSession session = new_session(1);
  session.row.spec = "12345";
  session.row.metadata = "{}";

  EXPECT_EQ(sqlite::bytes_of(commit), without + 8);
  EXPECT_EQ(sqlite::bytes_of(session), 7U);
}

// The room that a history of 200 entries takes in a database of its own, and that of their texts.
class HistoryRoomTest : public testing::TestWithParam<std::size_t> {
 protected:
  std::int64_t bytes_used() {
    auto reader = sqlite::Database::open(file_.path(), sqlite::Database::Access::read).value();
    return 4096 * reader->integer("PRAGMA page_count").value();
  }

  SqliteFile file_;
};

TEST_P(HistoryRoomTest, AHistoryTakesRoomInProportion) {
  start_session(file_.store(), 1);
  const std::int64_t before = bytes_used();
  Commit commit = commit_of(1, file_.store().epoch(), events_segment(1, 1, 1));
  commit.effects.history = std::vector<std::string>(200, std::string(GetParam(), 'x'));

  ASSERT_TRUE(file_.append(commit));

  constexpr std::size_t kIdBytes = 100;  // of an entry, in the table and its index
  const auto texts = static_cast<std::int64_t>(200 * (GetParam() + kIdBytes));
  EXPECT_LT(bytes_used() - before, texts * 3 / 2);
}

INSTANTIATE_TEST_SUITE_P(Bytes, HistoryRoomTest, testing::Values(200, 1000, 1500, 10'000));

}  // namespace
}  // namespace errand::session_test
