#include "store/sqlite/upkeep/examine.hpp"

#include <fstream>

#include "store/sqlite/file/database.hpp"
#include "store/sqlite/sqlite_fixture.hpp"

namespace errand::examine_test {
namespace {

using namespace store_contract;
using sqlite::Database;
using sqlite::Examination;

TEST(Examine, TellsWhoHoldsADatabaseAndHowManyRunsItHas) {
  SqliteFile file;
  ASSERT_TRUE(wait_for(file.store().create(new_run(1))));
  Examination held = sqlite::examine(file.path()).value();
  EXPECT_EQ(held.holder, cat("process ", ::getpid()));
  EXPECT_EQ(held.runs, 1);
  EXPECT_EQ(held.version, held.newest);
  EXPECT_TRUE(held.is_checked);
  file.close();
  EXPECT_EQ(sqlite::examine(file.path()).value().holder, "");
  EXPECT_FALSE(std::filesystem::exists(file.path() + "-shm"));
}

TEST(Examine, LeavesTheLogOfAKilledProcessToTheNextOne) {
  SqliteFile file;
  ASSERT_TRUE(wait_for(file.store().create(new_run(1))));
  TemporaryFolder copy;
  for (std::string_view end : {"", "-wal"}) {
    std::filesystem::copy(cat(file.path(), end), copy.file(cat("a ?#%.db", end)));
  }
  Examination found = sqlite::examine(copy.file("a ?#%.db")).value();
  EXPECT_TRUE(found.has_log);
  EXPECT_FALSE(found.is_checked);
  EXPECT_FALSE(std::filesystem::exists(copy.file("a ?#%.db-shm")));
}

TEST(Examine, LooksAtADatabaseOfAnyVersion) {
  SqliteFile file;
  file.close();
  for (std::int64_t version : {1, 99}) {
    auto database = Database::open(file.path(), Database::Access::write).value();
    ASSERT_TRUE(database->execute(cat("PRAGMA user_version = ", version)));
    database.reset();
    EXPECT_EQ(sqlite::examine(file.path()).value().version, version);
  }
}

TEST(Examine, SaysWhatCannotBeRead) {
  TemporaryFolder folder;
  std::string path = folder.file("errand.db");
  EXPECT_EQ(sqlite::examine(path).error().message(),
            cat("cannot read ", path, ": No such file or directory"));
  std::ofstream(path) << std::string(10'000, 'x');
  EXPECT_EQ(sqlite::examine(path).error().reason(), sqlite::kStoreDamaged);
}

}  // namespace
}  // namespace errand::examine_test
