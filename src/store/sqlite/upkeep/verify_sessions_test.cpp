#include "store/sqlite/file/database.hpp"
#include "store/sqlite/sqlite_fixture.hpp"
#include "store/sqlite/upkeep/verify.hpp"
#include "store/store_contract_session_setup.hpp"

// What check-data says about the tables of sessions.
namespace errand::verify_sessions_test {
namespace {

using namespace store_contract;
using Findings = std::vector<std::string>;
using sqlite::Database;

// Session 1: run 1 has ended, run 2 has the turn and has not started, run 3 waits. Session 2 has
// ended.
class VerifySessionsTest : public testing::Test {
 protected:
  VerifySessionsTest() {
    NewSession first = keyed_session(1, "key", "same");
    first.row.metadata = R"({"team":"red","n":7})";
    EXPECT_TRUE(wait_for(store().create_session(first)));
    for (int number = 1; number <= 3; ++number) create_told(store(), session_run(number));
    Commit end = last_commit(1, store().epoch(), events_segment(1, 1, 1));
    end.effects.history = {"hello", "world"};
    EXPECT_TRUE(file_.append(end));
    EXPECT_TRUE(wait_for(store().create_session(new_session(2))));
    EXPECT_TRUE(wait_for(store().end_session(session_key(2), "over")));
  }
  Store& store() { return file_.store(); }
  Findings verify() { return sqlite::verify(file_.path()).value(); }
  // Does to the database what no store does.
  Findings spoiled(const std::string& sql) {
    file_.close();
    auto database = Database::open(file_.path(), Database::Access::write).value();
    EXPECT_TRUE(database->execute(sql));
    database.reset();
    return verify();
  }

  SqliteFile file_;
};

TEST_F(VerifySessionsTest, NothingIsWrongWithSessionsInUse) {
  EXPECT_EQ(verify(), Findings());
}

TEST_F(VerifySessionsTest, NothingIsWrongOnceARunOfASessionIsRemoved) {
  EXPECT_EQ(wait_for(store().prune(everything_ended(store(), 100))).value().runs, 1U);

  EXPECT_EQ(verify(), Findings());
  EXPECT_EQ(spoiled("UPDATE sessions SET entries = 1 WHERE id = 'sess_1001'"),
            Findings{"session sess_1001 should have 1 entries, but its history has 2 up to 2"});
}

TEST_F(VerifySessionsTest, RowsWithoutTheirSessionAreFound) {
  EXPECT_EQ(spoiled("DELETE FROM sessions WHERE id = 'sess_1001'"),
            (Findings{"the idempotency key of sess_1001 belongs to nothing that is there",
                      "settings of sess_1001 belong to no session",
                      "run run_1001 is one of session sess_1001, which is not there",
                      "run run_1002 is one of session sess_1001, which is not there",
                      "run run_1003 is one of session sess_1001, which is not there",
                      "a history belongs to session sess_1001, which is not there",
                      "label team of sess_1001 is listed under 9001, which is not its last use"}));
}

TEST_F(VerifySessionsTest, ASessionWithoutItsSettingsIsFound) {
  EXPECT_EQ(spoiled("DELETE FROM session_settings WHERE session = 'sess_1001'"),
            (Findings{"session sess_1001 has no settings",
                      "label team of sess_1001 is not in the metadata of any session"}));
}

TEST_F(VerifySessionsTest, AnEndThatDisagreesWithItsTimeIsFound) {
  EXPECT_EQ(spoiled("UPDATE sessions SET status = 1 - status"),
            (Findings{"session sess_1001 has status 1 but no time of its end",
                      "session sess_1002 has status 0 but the time of an end"}));
}

TEST_F(VerifySessionsTest, ATurnOfARunThatHasEndedIsFound) {
  EXPECT_EQ(spoiled("UPDATE sessions SET turn = 'run_1001' WHERE id = 'sess_1001'"),
            (Findings{"run run_1001 has the turn in session sess_1001 but is no unfinished run of "
                      "it",
                      "run run_1002 of session sess_1001 neither has the turn nor waits"}));
}

TEST_F(VerifySessionsTest, ATurnOfARunThatWaitsIsFound) {
  EXPECT_EQ(spoiled("UPDATE session_runs SET place = 7 WHERE run = 'run_1002'"),
            Findings{"run run_1002 has the turn in session sess_1001 but is no unfinished run of "
                     "it"});
}

TEST_F(VerifySessionsTest, ARunThatWaitsAlthoughItHasStartedIsFound) {
  EXPECT_TRUE(file_.append(commit_of(2, store().epoch(), events_segment(1, 1, 1))));
  EXPECT_EQ(verify(), Findings());

  EXPECT_EQ(spoiled("UPDATE session_runs SET place = 7 WHERE run = 'run_1002'"),
            (Findings{"run run_1002 has the turn in session sess_1001 but is no unfinished run of "
                      "it",
                      "run run_1002 waits in session sess_1001 with status 1"}));
}

TEST_F(VerifySessionsTest, RunsThatWaitForNobodyAreFound) {
  EXPECT_EQ(spoiled("UPDATE sessions SET turn = ''"),
            (Findings{"run run_1002 of session sess_1001 neither has the turn nor waits",
                      "runs wait in session sess_1001, but nobody has the turn"}));
}

TEST_F(VerifySessionsTest, ARunOfASessionThatIsNotThereIsFound) {
  EXPECT_EQ(spoiled("INSERT INTO session_runs VALUES ('run_9', 'default', 'sess_1001', 0)"),
            Findings{"run run_9 of session sess_1001 is not there"});
}

TEST_F(VerifySessionsTest, AHistoryWithAGapIsFound) {
  EXPECT_EQ(spoiled("UPDATE session_history SET n = n + 1 WHERE n = 2"),
            Findings{"session sess_1001 should have 2 entries, but its history has 2 up to 3"});
}

TEST_F(VerifySessionsTest, AHistoryThatBeginsLateIsFound) {
  EXPECT_EQ(spoiled("UPDATE session_history SET n = 0 WHERE n = 1"),
            Findings{"session sess_1001 should have 2 entries, but its history has 2 up to 2"});
}

TEST_F(VerifySessionsTest, ASizeThatIsNotThatOfTheHistoryIsFound) {
  EXPECT_EQ(spoiled("UPDATE sessions SET bytes = 9 WHERE bytes > 0"),
            Findings{"the history of session sess_1001 should have 9 bytes, but has 10"});
}

TEST_F(VerifySessionsTest, ASessionThatIsWrongAboutItsLabelsIsFound) {
  EXPECT_EQ(spoiled("UPDATE sessions SET has_labels = 1 - has_labels WHERE id = 'sess_1001'"),
            Findings{"session sess_1001 should have no labels, but has some"});
}

TEST_F(VerifySessionsTest, ALabelThatIsListedByAnotherTimeIsFound) {
  EXPECT_EQ(spoiled("UPDATE session_label_uses SET last_used_at = 7"),
            Findings{"label team of sess_1001 is listed under 7, which is not its last use"});
}

TEST_F(VerifySessionsTest, ALabelThatIsNotListedIsFound) {
  EXPECT_EQ(spoiled("DELETE FROM session_label_uses"),
            Findings{"label team of sess_1001 is not listed by its last use"});
}

TEST_F(VerifySessionsTest, LabelsThatDisagreeWithTheMetadataAreFound) {
  EXPECT_EQ(spoiled("UPDATE session_labels SET value = 'blue'"),
            (Findings{"label team of sess_1001 is listed under 9001, which is not its last use",
                      "label team of sess_1001 is not listed by its last use",
                      "label team of sess_1001 is not in the metadata of any session",
                      "session sess_1001 is not found by its metadata team"}));
}

}  // namespace
}  // namespace errand::verify_sessions_test
