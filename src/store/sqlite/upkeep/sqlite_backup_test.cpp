#include "store/sqlite/upkeep/sqlite_backup.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include "store/sqlite/file/database.hpp"
#include "store/sqlite/schema.hpp"
#include "store/sqlite/sqlite_fixture.hpp"
#include "store/sqlite/upkeep/verify.hpp"

namespace errand::sqlite_backup_test {
namespace {

using namespace store_contract;
using sqlite::CopyReport;
using sqlite::Database;
using sqlite::Existing;
using sqlite::RestoreReport;

class BackupTest : public testing::Test {
 protected:
  std::int64_t create(int number) {
    return wait_for(file_.store().create(new_run(number))).value().epoch;
  }
  Result<CopyReport> back_up(Existing existing = Existing::keep) {
    return sqlite::back_up({.database = file_.path(), .file = copy(), .existing = existing});
  }
  Result<RestoreReport> restore(const std::string& database, Existing existing = Existing::keep) {
    return sqlite::restore(
        {.file = copy(), .database = database, .existing = existing, .now = from_millis(kStart)});
  }
  std::size_t runs_in(const std::string& database) {
    auto store = file_.open(database).value();
    return wait_for(store->all_runs({}, 100'000)).value().size();
  }
  std::vector<std::string> files_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  void write_copy(const std::string& text) { std::ofstream(copy()) << text; }
  std::string copy() const { return elsewhere_.file("copy's.db"); }
  std::string restored() const { return elsewhere_.file("errand.db"); }

  SqliteFile file_;
  TemporaryFolder elsewhere_;
};

TEST_F(BackupTest, ARunThatWaitsGoesOnInTheCopy) {
  auto epoch = create(1);
  Commit waiting = commit_of(1, epoch, events_segment(1, 1, 2));
  waiting.effects.open = {open_mailbox(1, "tu_a")};
  ASSERT_TRUE(file_.append(waiting));
  CopyReport report = back_up().value();
  RunRow expected = wait_for(file_.store().find(run_key(1))).value();
  ASSERT_TRUE(file_.append(last_commit(1, epoch, events_segment(2, 3, 1))));

  ASSERT_TRUE(restore(restored()));
  auto store = file_.open(restored()).value();
  auto claimed = wait_for(store->claim({.limit = 10})).value().runs;

  expected.epoch = store->epoch();
  EXPECT_EQ(report.runs, 1);
  EXPECT_EQ(report.bytes, static_cast<std::int64_t>(std::filesystem::file_size(copy())));
  ASSERT_EQ(claimed.size(), 1U);
  EXPECT_EQ(claimed[0].row, expected);
  EXPECT_EQ(claimed[0].mail, std::vector{open_mailbox(1, "tu_a")});
  EXPECT_TRUE(
      is_appended(wait_for(store->append(commit_of(1, store->epoch(), events_segment(2, 3, 1))))));
  EXPECT_EQ(sqlite::verify(restored()).value(), std::vector<std::string>());
}

TEST_F(BackupTest, HasEveryRunThatWasThereBeforeItBeganWhileMoreAreMade) {
  for (int number = 0; number < 200; ++number) create(number);
  std::atomic<bool> is_copied = false;
  std::thread copier([this, &is_copied] {
    EXPECT_TRUE(back_up());
    is_copied = true;
  });
  int made = 200;
  for (; made < 300 || !is_copied; ++made) create(made);
  copier.join();

  const auto report = restore(restored()).value();

  EXPECT_GE(report.copy.runs, 200);
  EXPECT_LE(report.copy.runs, made);
  EXPECT_EQ(runs_in(restored()), static_cast<std::size_t>(report.copy.runs));
  EXPECT_EQ(sqlite::verify(restored()).value(), std::vector<std::string>());
}

TEST_F(BackupTest, OfADatabaseThatWasLeftWithoutAWordHasEverything) {
  create(1);
  const std::string left = elsewhere_.file("left.db");
  for (const char* suffix : {"", "-wal"}) {
    std::filesystem::copy_file(file_.path() + suffix, left + suffix);
  }

  EXPECT_EQ(sqlite::back_up({.database = left, .file = copy()}).value().runs, 1);
}

TEST_F(BackupTest, SaysHowFarItIs) {
  auto epoch = create(1);
  for (int n = 1; n <= 200; ++n) {
    ASSERT_TRUE(file_.append(commit_of(1, epoch, large_segment(n, 60'000))));
  }
  std::vector<std::int64_t> told;

  auto report = sqlite::back_up(
      {.database = file_.path(), .file = copy(), .progress = [&told](std::int64_t bytes) {
         told.push_back(bytes);
       }});

  ASSERT_FALSE(told.empty());
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_GT(told.back(), 0);
  EXPECT_LE(told.back(), report.value().bytes);
}

TEST_F(BackupTest, OnlyItsOwnerMayReadItAndNothingElseIsLeft) {
  create(1);

  ASSERT_TRUE(back_up());

  struct stat info{};
  ASSERT_EQ(::stat(copy().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_EQ(files_in(elsewhere_.path()), std::vector<std::string>{"copy's.db"});
}

TEST_F(BackupTest, AnExistingFileIsReplacedOnlyIfAskedFor) {
  write_copy("a letter");

  auto refused = back_up();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  EXPECT_EQ(refused.error().message(), cat(copy(), " exists"));
  EXPECT_EQ(std::filesystem::file_size(copy()), 8U);

  EXPECT_TRUE(back_up(Existing::replace));
  EXPECT_TRUE(restore(restored()));
}

TEST_F(BackupTest, WhatCannotBeCopiedIsSaid) {
  auto none = sqlite::back_up({.database = elsewhere_.file("none.db"), .file = copy()});
  auto no_folder =
      sqlite::back_up({.database = file_.path(), .file = elsewhere_.file("none/copy.db")});

  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), ErrorCode::not_found);
  ASSERT_FALSE(no_folder);
  EXPECT_EQ(no_folder.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(files_in(elsewhere_.path()), std::vector<std::string>());
}

TEST_F(BackupTest, AForeignFileIsNotRestored) {
  write_copy(std::string(5000, 'x'));
  auto letter = restore(restored());
  std::ofstream(copy()).close();
  {
    auto foreign = Database::open(copy(), Database::Access::write).value();
    ASSERT_TRUE(foreign->execute("CREATE TABLE runs (a INTEGER)"));
  }
  auto foreign = restore(restored());

  ASSERT_FALSE(letter);
  EXPECT_EQ(letter.error().reason(), "store_damaged");
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code(), ErrorCode::unsupported);
  EXPECT_EQ(foreign.error().message(), cat(copy(), " is not a database of Errand's"));
  EXPECT_FALSE(std::filesystem::exists(restored()));
}

TEST_F(BackupTest, ACopyOfANewerVersionIsNotRestored) {
  ASSERT_TRUE(back_up());
  {
    auto newer = Database::open(copy(), Database::Access::write).value();
    ASSERT_TRUE(newer->execute("PRAGMA user_version = 99"));
  }

  auto refused = restore(restored());

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
  EXPECT_FALSE(std::filesystem::exists(restored()));
}

TEST_F(BackupTest, ADamagedCopyIsNotRestored) {
  auto epoch = create(1);
  for (int n = 1; n <= 50; ++n) {
    ASSERT_TRUE(file_.append(commit_of(1, epoch, large_segment(n, 500))));
  }
  ASSERT_TRUE(back_up());
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(copy()));
  {
    std::fstream file(copy(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(size - 4096);
    file << std::string(4096, '\xfe');
  }

  auto refused = restore(restored());

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(refused.error().reason(), "store_damaged");
  EXPECT_FALSE(std::filesystem::exists(restored()));
}

TEST_F(BackupTest, ADatabaseInUseIsNotReplaced) {
  create(1);
  ASSERT_TRUE(back_up());

  auto refused = restore(file_.path(), Existing::replace);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  EXPECT_EQ(refused.error().message(),
            cat("in use by process ", ::getpid(), ", which holds ", file_.path(), ".lock"));
}

TEST_F(BackupTest, ADatabaseThatIsReplacedIsKeptBesideIt) {
  create(1);
  ASSERT_TRUE(back_up());
  create(2);
  file_.close();

  auto refused = restore(file_.path());
  auto done = restore(file_.path(), Existing::replace).value();

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  EXPECT_EQ(refused.error().message(), cat("there is a database at ", file_.path()));
  EXPECT_EQ(done.kept, cat(file_.path(), ".before-restore-2023-11-14T22-13-20Z"));
  EXPECT_EQ(runs_in(file_.path()), 1U);
  EXPECT_EQ(runs_in(done.kept), 2U);
}

TEST_F(BackupTest, ADamagedDatabaseIsReplacedAndKeptWithItsLog) {
  create(1);
  ASSERT_TRUE(back_up());
  file_.close();
  std::ofstream(file_.path()) << std::string(5000, 'x');
  std::ofstream(file_.path() + "-wal") << "a log that is not of the copy";

  auto done = restore(file_.path(), Existing::replace).value();

  EXPECT_EQ(std::filesystem::file_size(done.kept), 5000U);
  EXPECT_TRUE(std::filesystem::exists(done.kept + "-wal"));
  EXPECT_EQ(runs_in(file_.path()), 1U);
}

TEST_F(BackupTest, ADatabaseThatWasLeftWithoutAWordIsKeptWithItsLog) {
  create(1);
  ASSERT_TRUE(back_up());
  create(2);
  for (const char* suffix : {"", "-wal"}) {
    std::filesystem::copy_file(file_.path() + suffix, restored() + suffix);
  }

  auto done = restore(restored(), Existing::replace).value();

  EXPECT_EQ(runs_in(restored()), 1U);
  EXPECT_EQ(runs_in(done.kept), 2U);
}

TEST_F(BackupTest, AnOldDatabaseGivesRoomBackOnceRestored) {
  const std::string old = elsewhere_.file("old.db");
  std::ofstream(old).close();
  {
    // As databases were made before they could shrink.
    auto database = Database::open(old, Database::Access::write).value();
    ASSERT_TRUE(sqlite::migrate(*database, sqlite::schema().first(1), from_millis(kStart)));
    ASSERT_TRUE(database->execute("PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE"));
    ASSERT_TRUE(database->execute("VACUUM"));
    ASSERT_EQ(database->integer("PRAGMA auto_vacuum").value(), 0);
  }
  ASSERT_TRUE(sqlite::back_up({.database = old, .file = copy()}));

  ASSERT_TRUE(restore(restored()));

  auto database = Database::open(restored(), Database::Access::read).value();
  EXPECT_EQ(database->integer("PRAGMA auto_vacuum").value(), 2);
}

}  // namespace
}  // namespace errand::sqlite_backup_test
