#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <string>

#include "base/size_text.hpp"
#include "store/sqlite/file/database.hpp"
#include "store/sqlite/sqlite_fixture.hpp"
#include "store/sqlite/test_old_database.hpp"
#include "store/store_contract_session_setup.hpp"

namespace {

constexpr std::int64_t kMegabyte = 1024 * 1024;
constexpr std::int64_t kPlenty = 1000 * kMegabyte;

std::atomic<std::int64_t> free_bytes = kPlenty;
std::atomic<int> looks = 0;
std::atomic<bool> disk_is_full = false;
std::atomic<bool> shared_memory_is_full = false;

bool is_shared_memory(int fd) {
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  return std::filesystem::read_symlink(link).string().ends_with("-shm");
}

}  // namespace

// The store is linked into this program, so these take the place of the C library's.
extern "C" int statvfs(const char*, struct statvfs* info) {
  ++looks;
  *info = {};
  info->f_frsize = 1024;
  info->f_bavail = static_cast<fsblkcnt_t>(free_bytes / 1024);
  return 0;
}
extern "C" ssize_t pwrite64(int fd, const void* data, std::size_t size, off64_t offset) {
  const bool fails = disk_is_full || (shared_memory_is_full && is_shared_memory(fd));
  if (!fails) return ::syscall(SYS_pwrite64, fd, data, size, offset);
  errno = ENOSPC;
  return -1;
}

namespace errand::full_disk_test {
namespace {

using namespace store_contract;

class FullDiskTest : public testing::Test {
 protected:
  ~FullDiskTest() override {
    disk_is_full = false;
    shared_memory_is_full = false;
    free_bytes = kPlenty;
  }
  Result<CreateOutcome> create(int number) {
    return wait_for(file_->store().create(new_run(number)));
  }
  Result<Appended> append(std::int32_t n, std::size_t bytes) {
    return wait_for(file_->store().append(commit_of(1, epoch_, large_segment(n, bytes))));
  }
  std::size_t segments_read() {
    return wait_for(file_->store().read_events(run_key(1), 0, 1 << 30)).value().size();
  }
  // A store with run 1.
  void start(Room room) {
    file_ = std::make_unique<SqliteFile>(room);
    epoch_ = create(1).value().epoch;
  }

  std::unique_ptr<SqliteFile> file_;
  std::int64_t epoch_ = 0;
};

TEST_F(FullDiskTest, AWriteThatDoesNotFitFailsAloneAndTheNextOneWorks) {
  start({.pages_max = 60});
  ASSERT_TRUE(append(1, 10'000));

  auto full = append(2, 1'000'000);
  auto fits = append(2, 10);

  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(full.error().reason(), "disk_full");
  EXPECT_TRUE(fits);
  EXPECT_EQ(segments_read(), 2U);
}

TEST_F(FullDiskTest, NothingCommittedIsLostAndThereIsRoomAgainAfterwards) {
  start({.pages_max = 60});
  std::int32_t n = 1;
  while (append(n, 10'000)) ++n;

  file_->reopen();

  ASSERT_GT(n, 5);
  EXPECT_EQ(wait_for(file_->store().find(run_key(1))).value().segments, n);
  EXPECT_EQ(wait_for(file_->store().claim({.limit = 10})).value().runs.size(), 1U);
  ++epoch_;
  EXPECT_TRUE(append(n, 10'000));
  EXPECT_EQ(segments_read(), static_cast<std::size_t>(n));
}

TEST_F(FullDiskTest, WhatADiskWithoutRoomRefusesIsNotThereAndWhatItTookIs) {
  start({});
  ASSERT_TRUE(append(1, 10'000));

  disk_is_full = true;
  auto refused = append(2, 10'000);
  auto created = create(2);
  const std::size_t while_full = segments_read();
  disk_is_full = false;
  auto accepted = append(2, 10'000);
  file_->reopen();

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(refused.error().reason(), "disk_full");
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().reason(), "disk_full");
  EXPECT_EQ(while_full, 1U);
  EXPECT_TRUE(accepted);
  EXPECT_EQ(segments_read(), 2U);
  EXPECT_FALSE(wait_for(file_->store().find(run_key(2))));
}

TEST_F(FullDiskTest, AnEndThatADiskWithoutRoomRefusesGivesNoTurnOn) {
  start({});
  ASSERT_TRUE(wait_for(file_->store().create_session(new_session(1))));
  ASSERT_EQ(create_told(file_->store(), session_run(2)), "has the turn");
  ASSERT_EQ(create_told(file_->store(), session_run(3)), "waits");
  const SessionRow before = find_session(file_->store(), 1);
  Commit end = last_commit(2, epoch_, large_segment(1, 10));
  end.effects.history = {"hello"};

  disk_is_full = true;
  auto refused = wait_for(file_->store().append(end));
  auto interrupts = wait_for(file_->store().create(session_run(4, WhenBusy::interrupt)));
  auto ends = wait_for(file_->store().end_session(session_key(1), "over"));
  disk_is_full = false;

  EXPECT_EQ(refused.error().reason(), "disk_full");
  EXPECT_EQ(interrupts.error().reason(), "disk_full");
  EXPECT_EQ(ends.error().reason(), "disk_full");
  EXPECT_EQ(find_session(file_->store(), 1), before);
  EXPECT_EQ(history(file_->store(), 1), std::vector<SessionEntry>());
  EXPECT_EQ(wait_for(file_->store().append(end)).value().started, run_id(3));
  EXPECT_EQ(history(file_->store(), 1).size(), 1U);
}

TEST_F(FullDiskTest, TheReserveIsNotForNewSessions) {
  start({.reserve_bytes = 10 * kMegabyte});
  ASSERT_TRUE(wait_for(file_->store().create_session(keyed_session(1, "k", "a"))));
  free_bytes = 0;
  file_->clock().pass(seconds(1));

  EXPECT_EQ(wait_for(file_->store().create_session(new_session(2))).error().reason(), "disk_full");
  EXPECT_EQ(wait_for(file_->store().create_session(keyed_session(1, "k", "a"))).value().kind,
            Creation::existing);
}

// A reader keeps the write-ahead log from starting over, until SQLite has to extend its shared
// memory for a commit that is in the log already.
TEST_F(FullDiskTest, ACommitThatOnlyTheLogKnowsIsToldAsUnknown) {
  start({});
  auto reader = sqlite::Database::open(file_->path(), sqlite::Database::Access::read).value();
  ASSERT_TRUE(reader->execute("BEGIN; SELECT count(*) FROM runs;"));
  shared_memory_is_full = true;
  std::int32_t n = 1;
  auto unknown = append(n, 50'000);
  while (unknown && n < 1000) unknown = append(++n, 50'000);
  shared_memory_is_full = false;
  const std::string copy = cat(file_->folder(), "/copy.db");
  for (const char* suffix : {"", "-wal"}) {
    std::filesystem::copy_file(file_->path() + suffix, copy + suffix);
  }

  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code(), ErrorCode::outcome_unknown);
  EXPECT_EQ(wait_for(file_->store().find(run_key(1))).value().segments, n);
  EXPECT_EQ(wait_for(file_->open(copy).value()->find(run_key(1))).value().segments, n + 1)
      << "a process that begins anew finds it";
  ASSERT_TRUE(reader->execute("COMMIT"));
  EXPECT_TRUE(is_appended(append(n, 50'000)));
}

TEST_F(FullDiskTest, TheReserveIsForTheRunsThatAreThere) {
  start({.reserve_bytes = 10 * kMegabyte});
  free_bytes = 10 * kMegabyte - 1024;
  file_->clock().pass(seconds(1));

  auto refused = create(2);
  auto goes_on = append(1, 10'000);
  auto ends = wait_for(file_->store().append(last_commit(1, epoch_, large_segment(2, 10))));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(refused.error().reason(), "disk_full");
  EXPECT_EQ(refused.error().message(),
            cat("the disk is nearly full: 9.9 MB are left on the file system of ", file_->path(),
                ", and below 10 MB new runs are refused so that running ones can finish"));
  EXPECT_TRUE(goes_on);
  EXPECT_TRUE(ends);
}

TEST_F(FullDiskTest, RunsAreCreatedAgainOnceThereIsRoom) {
  start({.reserve_bytes = 10 * kMegabyte});
  free_bytes = 0;
  file_->clock().pass(seconds(1));
  ASSERT_FALSE(create(2));

  free_bytes = 10 * kMegabyte;
  file_->clock().pass(seconds(1));

  EXPECT_TRUE(create(2));
}

TEST_F(FullDiskTest, TheFileSystemIsLookedAtOnceASecondAndAfterMuchWasWritten) {
  start({.reserve_bytes = 10 * kMegabyte});
  const int before = looks;
  for (int number = 2; number < 10; ++number) ASSERT_TRUE(create(number));
  EXPECT_EQ(looks - before, 0);

  file_->clock().pass(seconds(1));
  ASSERT_TRUE(create(10));
  ASSERT_TRUE(create(11));
  EXPECT_EQ(looks - before, 1);

  ASSERT_TRUE(append(1, 9 * kMegabyte));
  free_bytes = 0;
  EXPECT_FALSE(create(12));
}

TEST_F(FullDiskTest, AFileOfLimitedSizeHasAReserveToo) {
  start({.pages_max = 100, .reserve_bytes = 40 * 4096});
  std::int32_t n = 1;
  while (create(n + 1)) {
    ASSERT_TRUE(append(n, 10'000));
    ++n;
  }
  auto refused = create(1000);
  auto goes_on = append(n, 10'000);

  EXPECT_GT(n, 5);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason(), "disk_full");
  EXPECT_NE(refused.error().message().find(" are left of the 400 KB that "), std::string::npos);
  EXPECT_TRUE(goes_on);
}

TEST_F(FullDiskTest, AnOldDatabaseIsNotRewrittenWithoutRoomForItsBackup) {
  start({});
  file_->close();
  make_old_database(file_->path(), 4, many_old_runs(2000));
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(file_->path()));
  free_bytes = 2 * bytes - 100 * 1024;

  auto refused = file_->open(file_->path());
  const bool has_backup = std::filesystem::exists(file_->path() + ".schema4.bak");
  free_bytes = 2 * bytes;

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(refused.error().reason(), "disk_full");
  EXPECT_EQ(refused.error().message(),
            cat("cannot use ", file_->path(), ": the upgrade to schema version 11 needs ",
                size_text(2 * bytes), " of free disk space for a backup and the new tables, and ",
                "100 KB are missing"));
  EXPECT_EQ(refused.error().hint(),
            "Free some disk space and start again. The database is unchanged.");
  EXPECT_FALSE(has_backup);
  EXPECT_TRUE(file_->open(file_->path()));
}

TEST_F(FullDiskTest, AKeyFindsItsRunThoughThereIsNoRoom) {
  start({.reserve_bytes = 10 * kMegabyte});
  ASSERT_TRUE(wait_for(file_->store().create(keyed_run(2, "key", "same"))));
  free_bytes = 0;
  file_->clock().pass(seconds(1));

  EXPECT_EQ(wait_for(file_->store().create(keyed_run(3, "key", "same"))).value().kind,
            Creation::existing);
}

}  // namespace
}  // namespace errand::full_disk_test
