#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "store/sqlite/migration.hpp"
#include "store/sqlite/test_old_database.hpp"
#include "store/sqlite/upkeep/sqlite_backup.hpp"
#include "store/sqlite/upkeep/verify.hpp"

// Migrations that are watched, killed or repeated.
namespace errand::migration_safety_test {
namespace {

using namespace store_contract;
using Findings = std::vector<std::string>;
using Names = std::vector<std::string>;
using sqlite::Database;

constexpr int kRuns = 2000;
const auto kNewest = static_cast<std::int64_t>(sqlite::schema().size());

class MigrationSafetyTest : public testing::Test {
 protected:
  std::string path() const { return folder_.file("errand.db"); }
  std::string backup() const { return folder_.file("errand.db.schema4.bak"); }
  Result<std::unique_ptr<SqliteStore>> open() {
    return SqliteStore::open(
        {.path = path(), .clock = clock_, .pool = pool_, .log = log_, .reserve_bytes = 0});
  }
  std::int64_t integer(const std::string& file, const char* sql) {
    return Database::open(file, Database::Access::read).value()->integer(sql).value();
  }
  std::int64_t runs_in(const std::string& file) {
    return integer(file, "SELECT count(*) FROM runs");
  }
  Names backups() {
    Names names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      std::string name = entry.path().filename().string();
      if (name.find(".bak") != std::string::npos) names.push_back(std::move(name));
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  TemporaryFolder folder_;
  ManualClock clock_{kStart};
  Log log_{clock_, STDERR_FILENO, LogFormat::text, LogLevel::error};
  BlockingPool pool_{1, 100};
};

TEST_F(MigrationSafetyTest, TheOldDatabaseIsKeptBesideTheNewOne) {
  make_old_database(path(), 4, many_old_runs(kRuns));

  ASSERT_TRUE(open());

  EXPECT_EQ(backups(), Names{"errand.db.schema4.bak"});
  EXPECT_EQ(integer(backup(), "PRAGMA user_version"), 4);
  EXPECT_EQ(runs_in(backup()), kRuns);
  EXPECT_EQ(std::filesystem::status(backup()).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_EQ(integer(path(), "PRAGMA user_version"), kNewest);
  EXPECT_EQ(runs_in(path()), kRuns);
}

TEST_F(MigrationSafetyTest, TheBackupCanBeRestoredAndRewrittenAgain) {
  make_old_database(path(), 4, many_old_runs(10));
  ASSERT_TRUE(open());

  ASSERT_TRUE(sqlite::restore({.file = backup(),
                               .database = path(),
                               .existing = sqlite::Existing::replace,
                               .now = from_millis(kStart)}));
  EXPECT_EQ(integer(path(), "PRAGMA user_version"), 4);
  ASSERT_TRUE(open());

  EXPECT_EQ(integer(path(), "PRAGMA user_version"), kNewest);
  EXPECT_EQ(backups(), Names{"errand.db.schema4.bak"}) << "it has the same content";
}

TEST_F(MigrationSafetyTest, NeitherANewDatabaseNorOneOfThisVersionIsBackedUp) {
  ASSERT_TRUE(open());
  ASSERT_TRUE(open());

  EXPECT_EQ(backups(), Names());
}

TEST_F(MigrationSafetyTest, ABackupOfAnotherStateIsNotOverwritten) {
  make_old_database(path(), 4, many_old_runs(20));
  ASSERT_TRUE(open());
  make_old_database(path(), 4, many_old_runs(10));
  ASSERT_TRUE(open());
  make_old_database(path(), 4, many_old_runs(30));
  ASSERT_TRUE(open());

  EXPECT_EQ(backups(),
            (Names{"errand.db.schema4.2.bak", "errand.db.schema4.3.bak", "errand.db.schema4.bak"}));
  EXPECT_EQ(runs_in(backup()), 20);
  EXPECT_EQ(runs_in(folder_.file("errand.db.schema4.2.bak")), 10);
  EXPECT_EQ(runs_in(folder_.file("errand.db.schema4.3.bak")), 30);
}

TEST_F(MigrationSafetyTest, AFileThatIsNoBackupIsNotOverwritten) {
  make_old_database(path(), 4, many_old_runs(10));
  std::ofstream(backup()) << "a letter";

  ASSERT_TRUE(open());

  EXPECT_EQ(std::filesystem::file_size(backup()), 8U);
  EXPECT_EQ(runs_in(folder_.file("errand.db.schema4.2.bak")), 10);
}

// Five seconds pass from each look at the clock to the next.
class FastClock final : public Clock {
 public:
  WallTime now() const override { return from_millis(kStart); }
  SteadyTime steady_now() const override { return SteadyTime(seconds(5 * ++calls_)); }

 private:
  mutable std::atomic<int> calls_ = 0;
};

TEST_F(MigrationSafetyTest, TheLogTellsHowFarItIs) {
  make_old_database(path(), 4, many_old_runs(kRuns));
  FastClock clock;
  const std::string file = folder_.file("log");
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  {
    Log log(clock, fd, LogFormat::text);
    ASSERT_TRUE(SqliteStore::open(
        {.path = path(), .clock = clock, .pool = pool_, .log = log, .reserve_bytes = 0}));
  }
  ::close(fd);
  std::ifstream in(file);
  const std::string text(std::istreambuf_iterator<char>(in), {});

  auto has = [&text](std::string_view part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has("the database has an old schema version and is rewritten")) << text;
  EXPECT_TRUE(has(cat("from=\"4\" to=\"", kNewest, "\" size=\""))) << text;
  EXPECT_TRUE(has("backing up the database done=")) << text;
  EXPECT_TRUE(has(cat("the database is backed up file=\"", backup()))) << text;
  EXPECT_TRUE(has("rewriting the database written=")) << text;
  EXPECT_TRUE(has(cat("the database is rewritten version=\"", kNewest, "\""))) << text;
}

// Kills the process with SIGKILL after so many looks at the clock; a migration looks again and
// again.
class DeadlyClock final : public Clock {
 public:
  explicit DeadlyClock(int calls) : left_(calls) {}
  WallTime now() const override { return from_millis(kStart); }
  SteadyTime steady_now() const override {
    if (--left_ < 0) ::raise(SIGKILL);
    return {};
  }

 private:
  mutable std::atomic<int> left_;
};

// Opens the store in another process. True if its clock did not kill it.
bool open_in_another_process(const std::string& path, int calls) {
  const pid_t child = ::fork();
  if (child == 0) {
    DeadlyClock clock(calls);
    Log log(clock, STDERR_FILENO, LogFormat::text, LogLevel::error);
    BlockingPool pool(1, 100);
    const bool is_open =
        SqliteStore::open(
            {.path = path, .clock = clock, .pool = pool, .log = log, .reserve_bytes = 0})
            .has_value();
    ::_exit(is_open ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  const bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  EXPECT_TRUE(is_killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
  return !is_killed;
}

TEST_F(MigrationSafetyTest, WhatIsKilledInTheMiddleStartsAgainCleanly) {
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the thread sanitizer lets no child of fork() start threads";
#endif
  make_old_database(path(), 4, many_old_runs(kRuns));
  int kills = 0;
  for (int calls = 1; !open_in_another_process(path(), calls); calls += 1 + calls / 3) {
    ++kills;
    const std::int64_t version = integer(path(), "PRAGMA user_version");
    EXPECT_TRUE(version == 4 || version == kNewest) << version;
    EXPECT_EQ(runs_in(path()), kRuns);
  }

  EXPECT_GT(kills, 5);
  EXPECT_EQ(integer(path(), "PRAGMA user_version"), kNewest);
  EXPECT_EQ(sqlite::verify(path()).value(), Findings());
  EXPECT_EQ(runs_in(path()), kRuns);
  EXPECT_EQ(backups(), Names{"errand.db.schema4.bak"});
  EXPECT_EQ(runs_in(backup()), kRuns);
}

}  // namespace
}  // namespace errand::migration_safety_test
