#include "store/sqlite/file/gathering_vfs.hpp"

#include <fstream>

#include "store/sqlite/file/database.hpp"
#include "store/sqlite/sqlite_fixture.hpp"

namespace errand::sqlite::gathering_vfs_test {
namespace {

// Calls of this process that have written something.
std::int64_t writes_so_far() {
  std::ifstream file("/proc/self/io");
  std::string name;
  std::int64_t count = 0;
  while (file >> name >> count) {
    if (name == "syscw:") return count;
  }
  return -1;
}

class GatheringVfsTest : public testing::Test {
 protected:
  GatheringVfsTest() : database_(open(Database::Access::write)) {
    EXPECT_TRUE(database_->execute("CREATE TABLE t (n INTEGER PRIMARY KEY, bytes BLOB)"));
  }

  std::unique_ptr<Database> open(Database::Access access) {
    {
      std::ofstream make(folder_.file("a.db"), std::ios::app);
    }
    return Database::open(folder_.file("a.db"), access).value();
  }

  Result<void> insert(std::int64_t n, std::int64_t bytes) {
    return database_->execute(cat("INSERT INTO t VALUES (", n, ", randomblob(", bytes, "))"));
  }

  // What another connection, with the system's own VFS, finds.
  std::string read_by_others() {
    auto reader = open(Database::Access::read);
    return cat(reader->integer("SELECT count(*) FROM t").value(), " rows, ",
               reader->integer("SELECT sum(length(bytes)) FROM t").value(), " bytes, ",
               reader->text("PRAGMA integrity_check").value());
  }

  TemporaryFolder folder_;
  std::unique_ptr<Database> database_;
};

TEST_F(GatheringVfsTest, ACommitOfManyPagesIsOneWrite) {
  if (writes_so_far() < 0) GTEST_SKIP() << "this kernel does not count calls";
  ASSERT_TRUE(insert(1, 1));
  const std::int64_t before = writes_so_far();
  ASSERT_TRUE(insert(2, 40'000));  // ten pages
  EXPECT_EQ(writes_so_far() - before, 1);
  EXPECT_EQ(read_by_others(), "2 rows, 40001 bytes, ok");
}

TEST_F(GatheringVfsTest, CommitsOfAnySizeAreSeenByOthersAtOnce) {
  std::int64_t bytes = 0;
  // Around the sizes at which what is gathered is written, and at which the system's VFS writes
  // less than it is given.
  std::int64_t n = 0;
  for (std::int64_t pages : {1, 14, 15, 16, 17, 30, 31, 32, 33, 34, 62, 63, 64, 65, 300}) {
    ASSERT_TRUE(insert(++n, pages * 4096));
    bytes += pages * 4096;
    EXPECT_EQ(read_by_others(), cat(n, " rows, ", bytes, " bytes, ok"));
  }
}

TEST_F(GatheringVfsTest, WhatATransactionHasPutAsideItFindsAgain) {
  ASSERT_TRUE(database_->execute("PRAGMA cache_size = 10"));
  ASSERT_TRUE(database_->execute("BEGIN"));
  for (std::int64_t n = 1; n <= 200; ++n) ASSERT_TRUE(insert(n, 3000));
  EXPECT_EQ(database_->integer("SELECT count(*) FROM t WHERE length(bytes) = 3000").value(), 200);
  ASSERT_TRUE(database_->execute("COMMIT"));
  EXPECT_EQ(read_by_others(), "200 rows, 600000 bytes, ok");
}

TEST_F(GatheringVfsTest, WhatIsRolledBackLeavesNothing) {
  ASSERT_TRUE(insert(1, 10));
  ASSERT_TRUE(database_->execute("PRAGMA cache_size = 10; BEGIN"));
  for (std::int64_t n = 2; n <= 100; ++n) ASSERT_TRUE(insert(n, 3000));
  ASSERT_TRUE(database_->execute("ROLLBACK"));
  ASSERT_TRUE(insert(2, 20));
  EXPECT_EQ(read_by_others(), "2 rows, 30 bytes, ok");
  database_.reset();
  EXPECT_EQ(read_by_others(), "2 rows, 30 bytes, ok");
}

TEST_F(GatheringVfsTest, ALogThatIsMovedIntoTheDatabaseIsWhole) {
  for (std::int64_t n = 1; n <= 50; ++n) ASSERT_TRUE(insert(n, 3000));
  ASSERT_TRUE(database_->checkpoint());
  ASSERT_TRUE(insert(51, 3000));
  EXPECT_EQ(read_by_others(), "51 rows, 153000 bytes, ok");
}

}  // namespace
}  // namespace errand::sqlite::gathering_vfs_test
