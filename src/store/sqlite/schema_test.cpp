#include "store/sqlite/schema.hpp"

#include <array>
#include <fstream>

#include "store/sqlite/sqlite_fixture.hpp"

namespace errand::sqlite::schema_test {
namespace {

class SchemaTest : public testing::Test {
 protected:
  SchemaTest() {
    std::ofstream(path_).close();
    database_ = Database::open(path_, Database::Access::write).value();
  }
  std::int64_t version() { return database_->integer("PRAGMA user_version").value(); }

  TemporaryFolder folder_;
  const std::string path_ = folder_.file("a.db");
  std::unique_ptr<Database> database_;
};

const WallTime kNow = from_millis(store_contract::kStart);

constexpr std::array<SchemaStep, 1> kOld = {{{"CREATE TABLE t (a INTEGER) STRICT"}}};
constexpr std::array<SchemaStep, 3> kNew = {
    {{"CREATE TABLE t (a INTEGER) STRICT"},
     {"ALTER TABLE t ADD COLUMN b INTEGER NOT NULL DEFAULT 7"},
     {"UPDATE t SET b = a * 2"}}};

TEST_F(SchemaTest, AnOlderDatabaseIsBroughtForwardWithItsRows) {
  ASSERT_TRUE(migrate(*database_, kOld, kNow));
  ASSERT_TRUE(database_->execute("INSERT INTO t VALUES (21)"));

  ASSERT_TRUE(migrate(*database_, kNew, kNow));

  EXPECT_EQ(version(), 3);
  EXPECT_EQ(database_->integer("SELECT b FROM t").value(), 42);
}

TEST_F(SchemaTest, ADatabaseOfTheSameVersionIsLeftAlone) {
  ASSERT_TRUE(migrate(*database_, kOld, kNow));

  EXPECT_TRUE(migrate(*database_, kOld, kNow));

  EXPECT_EQ(version(), 1);
}

TEST_F(SchemaTest, AStepKnowsTheTimeAndIsFilledAfterItsScript) {
  constexpr std::array<SchemaStep, 2> steps = {
      {{"CREATE TABLE t (a INTEGER) STRICT"},
       {.script = "INSERT INTO t SELECT wall_now FROM migration",
        .fill = [](Database& database) -> Result<void> {
          return database.execute("UPDATE t SET a = a + 1");
        }}}};
  ASSERT_TRUE(migrate(*database_, kOld, kNow));

  ASSERT_TRUE(migrate(*database_, steps, kNow));

  EXPECT_EQ(version(), 2);
  EXPECT_EQ(database_->integer("SELECT a FROM t").value(), store_contract::kStart + 1);
}

TEST_F(SchemaTest, AStepThatCannotBeFilledChangesNothing) {
  constexpr std::array<SchemaStep, 2> steps = {
      {{"CREATE TABLE t (a INTEGER) STRICT"},
       {.script = "INSERT INTO t VALUES (1)", .fill = [](Database& database) -> Result<void> {
          return database.execute("INSERT INTO u VALUES (1)");
        }}}};
  ASSERT_TRUE(migrate(*database_, kOld, kNow));

  ASSERT_FALSE(migrate(*database_, steps, kNow));

  EXPECT_EQ(version(), 1);
  EXPECT_EQ(database_->integer("SELECT count(*) FROM t").value(), 0);
}

TEST_F(SchemaTest, AStepThatFailsChangesNothing) {
  constexpr std::array<SchemaStep, 2> broken = {
      {{"CREATE TABLE t (a INTEGER) STRICT"},
       {"INSERT INTO t VALUES (1); CREATE TABLE u (a INTEGER); CREATE TABLE t (a INTEGER)"}}};
  ASSERT_TRUE(migrate(*database_, kOld, kNow));

  auto refused = migrate(*database_, broken, kNow);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "cannot bring the database to schema version 2: the database failed: table t already "
            "exists");
  EXPECT_EQ(version(), 1);
  EXPECT_EQ(database_->integer("SELECT count(*) FROM t").value(), 0);
}

TEST_F(SchemaTest, ANewerDatabaseIsRefusedByBothVersions) {
  ASSERT_TRUE(migrate(*database_, kNew, kNow));

  auto refused = migrate(*database_, kOld, kNow);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
  EXPECT_EQ(refused.error().message(),
            "the database has schema version 3, but this program knows only versions up to 1");
}

}  // namespace
}  // namespace errand::sqlite::schema_test
