#include "store/sqlite/upkeep/verify.hpp"

#include <array>
#include <fstream>

#include "store/sqlite/file/database.hpp"
#include "store/sqlite/sqlite_fixture.hpp"

namespace errand::verify_test {
namespace {

using namespace store_contract;
using Findings = std::vector<std::string>;
using sqlite::Database;

constexpr std::int64_t kPageBytes = 4096;

// A file with one run of many segments that waits for a call, and one that has ended.
class VerifyTest : public testing::Test {
 protected:
  VerifyTest() {
    auto epoch = wait_for(file_.store().create(keyed_run(1, "key", "same"))).value().epoch;
    NewRun second = new_run(2);
    second.effects.blobs = {{.hash = "h1", .bytes = std::make_shared<const std::string>("bytes")}};
    EXPECT_TRUE(wait_for(file_.store().create(second)));
    EXPECT_TRUE(file_.append(last_commit(2, epoch, events_segment(1, 1, 1))));
    Commit first = commit_of(1, epoch, large_segment(1, 500));
    first.effects.open = {open_mailbox(1, "tu_a")};
    EXPECT_TRUE(file_.append(first));
    for (int n = 2; n <= 100; ++n) {
      EXPECT_TRUE(file_.append(commit_of(1, epoch, large_segment(n, 500))));
    }
  }
  Findings verify() { return sqlite::verify(file_.path()).value(); }
  // Does to the database what no store does.
  void spoil(const std::string& sql) {
    file_.close();
    auto database = Database::open(file_.path(), Database::Access::write).value();
    ASSERT_TRUE(database->execute(sql));
  }
  // Overwrites a page; negative ones count from the end.
  void damage_page(std::int64_t page) {
    file_.close();
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(file_.path()));
    std::fstream file(file_.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(page < 0 ? size + page * kPageBytes : page * kPageBytes);
    file << std::string(kPageBytes, '\xfe');
  }

  SqliteFile file_;
};

TEST_F(VerifyTest, NothingIsWrongWithAStoreInUse) {
  EXPECT_EQ(verify(), Findings());
}

TEST_F(VerifyTest, NothingIsWrongWhileARunIsBeingRemoved) {
  wait_for(file_.store().create(new_run(3))).value();
  ASSERT_TRUE(wait_for(file_.store().prune(everything_ended(file_.store(), 1))));

  EXPECT_EQ(verify(), Findings());
}

TEST_F(VerifyTest, ALogThatCannotBeFollowedIsFound) {
  spoil(
      "UPDATE segments SET previous = 0 WHERE run = 'run_1001' AND n = 50;"
      "UPDATE runs SET log_end = log_end - 1 WHERE id = 'run_1001';"
      "UPDATE runs SET log_end = 0 WHERE id = 'run_1002'");

  EXPECT_EQ(verify(), (Findings{"segment 50 of run_1001 does not lead to the one before it",
                                "the last segment of run_1001 cannot be found",
                                "the last segment of run_1002 cannot be found"}));
}

TEST_F(VerifyTest, RowsWithoutTheirRunAreFound) {
  spoil("DELETE FROM runs WHERE id = 'run_1001'");

  EXPECT_EQ(verify(),
            (Findings{"segments of run_1001 belong to no run",
                      "mail tu_a of run_1001 belongs to no run that goes on",
                      "the idempotency key of run_1001 belongs to nothing that is there"}));
}

TEST_F(VerifyTest, ARowThatDisagreesWithItsLogIsFound) {
  spoil("UPDATE runs SET segments = 7 WHERE id = 'run_1002'");

  EXPECT_EQ(verify(),
            (Findings{"run run_1002 should have 7 segments up to seq 1, but its log has 2 up to 1",
                      "the last segment of run_1002 cannot be found"}));
}

TEST_F(VerifyTest, AMarkThatDisagreesWithItsStatusIsFound) {
  spoil("UPDATE runs SET status = 1 WHERE id = 'run_1002'");

  EXPECT_EQ(verify(), Findings{"run run_1002 has status 1 but is marked as finished"});
}

TEST_F(VerifyTest, ARunThatIsBothListedAndRemovedIsFound) {
  spoil("INSERT INTO doomed VALUES ('run_1002', 0); DELETE FROM meta WHERE key = 'clock'");

  EXPECT_EQ(verify(), (Findings{"run run_1002 is being removed but still listed",
                                "the row \"clock\" of meta is missing"}));
}

TEST_F(VerifyTest, FilesWithoutTheirBytesAreFound) {
  spoil("DELETE FROM blobs");

  EXPECT_EQ(verify(), Findings{"the bytes of file h1 of run_1002 are missing"});
}

TEST_F(VerifyTest, FilesWithoutTheirRunAreFound) {
  spoil(
      "INSERT INTO blobs VALUES ('default', 'h2', x'');"
      "INSERT INTO blob_users VALUES ('run_9', 'h1', 'default')");

  EXPECT_EQ(verify(),
            (Findings{"files of run_9 belong to no run", "the bytes of file h2 belong to no run"}));
}

TEST_F(VerifyTest, NothingIsLeftOfFilesOnceTheirRunIsRemoved) {
  const Prune everything = everything_ended(file_.store(), 100);
  EXPECT_EQ(wait_for(file_.store().prune(everything)).value().runs, 1U);
  file_.close();

  auto database = Database::open(file_.path(), Database::Access::read).value();
  EXPECT_EQ(database->integer("SELECT count(*) FROM blobs").value(), 0);
  EXPECT_EQ(database->integer("SELECT count(*) FROM blob_users").value(), 0);
}

TEST_F(VerifyTest, ALargeFileIsRemovedInAStepOfItsOwn) {
  NewRun run = new_run(3);
  for (int i = 0; i < 10; ++i) {
    run.effects.blobs.push_back(
        {.hash = cat("large ", i), .bytes = std::make_shared<const std::string>(1U << 20, 'x')});
  }
  auto epoch = wait_for(file_.store().create(run)).value().epoch;
  ASSERT_TRUE(file_.append(last_commit(3, epoch, events_segment(1, 1, 1))));
  Prune step = everything_ended(file_.store(), 2);
  step.spared = {run_id(2)};

  EXPECT_FALSE(wait_for(file_.store().prune(step)).value().is_done);
  EXPECT_FALSE(wait_for(file_.store().prune(step)).value().is_done);

  EXPECT_EQ(verify(), Findings());
  file_.close();
  auto database = Database::open(file_.path(), Database::Access::read).value();
  EXPECT_EQ(database->integer("SELECT count(*) FROM blobs WHERE hash LIKE 'large%'").value(), 8);
}

TEST_F(VerifyTest, ADatabaseOfAnotherVersionIsNotLookedAt) {
  spoil("PRAGMA user_version = 1");

  auto refused = sqlite::verify(file_.path());

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
}

TEST_F(VerifyTest, ADamagedLastPageIsFoundAndSaidByTheStore) {
  damage_page(-1);

  const Findings findings = verify();
  file_.reopen();
  auto read = wait_for(file_.store().read_log(run_key(1), -1, 1 << 30));

  ASSERT_FALSE(findings.empty());
  EXPECT_TRUE(findings[0].starts_with("the file is damaged: ")) << findings[0];
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(read.error().reason(), "store_damaged");
  EXPECT_EQ(read.error().message(), "the database is damaged: database disk image is malformed");
  EXPECT_EQ(read.error().hint(),
            "Run 'errand check-data' to see what is damaged, or restore a backup with 'errand "
            "restore'.");
}

TEST_F(VerifyTest, ADamagedLastPageIsSaidByWritesToo) {
  damage_page(-1);
  file_.reopen();
  ASSERT_TRUE(wait_for(file_.store().claim({.limit = 10})));

  auto written =
      wait_for(file_.store().append(commit_of(1, file_.store().epoch(), large_segment(101, 500))));

  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().reason(), "store_damaged");
}

TEST_F(VerifyTest, ADatabaseWithADamagedFirstPageIsNotOpened) {
  damage_page(0);

  auto refused = file_.open(file_.path());

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(refused.error().reason(), "store_damaged");
  EXPECT_EQ(refused.error().message(),
            cat("cannot open the database ", file_.path(), ": the file is not a database"));
  EXPECT_NE(refused.error().hint(), "");
}

// A file with a named record of two versions, and with feedback on a run.
class VerifyRecordsTest : public VerifyTest {
 protected:
  VerifyRecordsTest() {
    const std::string body = "print\nsupport\n{}";
    std::vector<RecordChange> changes;
    for (auto [kind, id, text] : {std::array<std::string, 3>{"agent", "agent_1", body},
                                  {"agent_name", "support", "agent_1"},
                                  {"agent_version", "agent_1.0000000001", body},
                                  {"feedback", run_id(2).str(), "{}"}}) {
      changes.push_back({.key = {.workspace = workspace(), .kind = kind, .id = id}, .body = text});
    }
    EXPECT_TRUE(wait_for(file_.store().change_records(std::move(changes))));
  }
};

TEST_F(VerifyRecordsTest, NothingIsWrongWithThem) {
  EXPECT_EQ(verify(), Findings());
}

TEST_F(VerifyRecordsTest, FeedbackWithoutItsRunIsFound) {
  spoil("UPDATE records SET id = 'run_none' WHERE kind = 'feedback'");
  EXPECT_EQ(verify(), (Findings{"the feedback on run_none belongs to no run"}));
}

TEST_F(VerifyRecordsTest, ANameThatLeadsNowhereIsFound) {
  spoil("UPDATE records SET body = CAST('agent_2' AS BLOB) WHERE kind = 'agent_name'");
  EXPECT_EQ(verify(), (Findings{"the name support belongs to no agent",
                                "agent agent_1 is not found by its name"}));
}

TEST_F(VerifyRecordsTest, ABodyThatCannotBeReadIsFound) {
  spoil(
      "UPDATE records SET body = CAST('print' || char(10) || 'support' || char(10) || '{' AS "
      "BLOB) WHERE kind IN ('agent', 'agent_version')");
  EXPECT_EQ(verify(), (Findings{"agent agent_1 cannot be read"}));
}

TEST_F(VerifyRecordsTest, AGapInTheVersionsIsFound) {
  spoil("UPDATE records SET version = 2 WHERE kind = 'agent'");
  EXPECT_EQ(verify(), (Findings{"agent agent_1 lacks its version 2"}));
}

TEST_F(VerifyRecordsTest, AVersionOfNothingIsFound) {
  spoil("UPDATE records SET id = 'agent_9.0000000001' WHERE kind = 'agent_version'");
  EXPECT_EQ(verify(), (Findings{"agent agent_1 lacks its version 1",
                                "version agent_9.0000000001 belongs to no agent"}));
}

}  // namespace
}  // namespace errand::verify_test
