#include "store/sqlite/sqlite_store.hpp"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "store/sqlite/file/database.hpp"
#include "store/sqlite/sqlite_fixture.hpp"

namespace errand::sqlite_store_test {
namespace {

using namespace store_contract;

class SqliteStoreTest : public testing::Test {
 protected:
  std::int64_t create(int number) {
    return wait_for(file_.store().create(new_run(number))).value().epoch;
  }
  bool append(Commit commit) { return file_.append(std::move(commit)); }
  Result<RunRow> find(int number) { return wait_for(file_.store().find(run_key(number))); }
  std::size_t segments_read(int number) {
    return wait_for(file_.store().read_events(run_key(number), 0, 1 << 30)).value().size();
  }
  static unsigned mode(const std::string& path) {
    struct stat info{};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 0777U;
  }

  SqliteFile file_;
};

TEST_F(SqliteStoreTest, EverythingSurvivesAReopening) {
  auto epoch = wait_for(file_.store().create(keyed_run(1, "key", "same"))).value().epoch;
  Commit waiting = commit_of(1, epoch, events_segment(1, 1, 2));
  waiting.effects.open = {open_mailbox(1, "tu_a")};
  ASSERT_TRUE(append(waiting));
  RunRow before = find(1).value();

  file_.reopen();

  EXPECT_EQ(find(1).value(), before);
  EXPECT_EQ(segments_read(1), 1U);
  EXPECT_EQ(read_journal(file_.store(), run_key(1)), "{\"created\":1}\n{\"n\":1}\n");
  EXPECT_EQ(wait_for(file_.store().mailboxes(run_key(1))).value(),
            std::vector{open_mailbox(1, "tu_a")});
  EXPECT_EQ(wait_for(file_.store().create(keyed_run(2, "key", "same"))).value().kind,
            Creation::existing);
}

TEST(SqliteDeathTest, AProcessMayCountNoMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process where nothing is open yet
  auto open_without_counting = [] {
    sqlite::count_no_memory();
    SqliteFile file;
    ::_exit(::sqlite3_memory_used() == 0 ? 0 : 1);
  };
  EXPECT_EXIT(open_without_counting(), testing::ExitedWithCode(0), "");
}

TEST_F(SqliteStoreTest, ASecondOpeningIsRefusedByTheProcessThatHasIt) {
  auto second = file_.open(file_.path());

  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::conflict);
  EXPECT_EQ(second.error().message(),
            cat("in use by process ", ::getpid(), ", which holds ", file_.path(), ".lock"));
}

TEST_F(SqliteStoreTest, ANewerDatabaseIsRefused) {
  file_.close();
  {
    auto database = sqlite::Database::open(file_.path(), sqlite::Database::Access::write).value();
    ASSERT_TRUE(database->execute("PRAGMA user_version = 99"));
  }

  auto refused = file_.open(file_.path());

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
  EXPECT_EQ(refused.error().message(),
            cat("cannot use ", file_.path(),
                ": the database has schema version 99, but this program knows only versions up to "
                "11"));
}

TEST_F(SqliteStoreTest, APathThatCannotBeWrittenSaysWhy) {
  auto no_folder = file_.open(cat(file_.folder(), "/none/errand.db"));
  auto is_folder = file_.open(file_.folder());

  ASSERT_FALSE(no_folder);
  EXPECT_EQ(no_folder.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(no_folder.error().message(),
            cat("cannot open ", file_.folder(), "/none/errand.db.lock: No such file or directory"));
  ASSERT_FALSE(is_folder);
  EXPECT_EQ(is_folder.error().message(),
            cat("cannot open the database ", file_.folder(), ": Is a directory"));
  std::filesystem::remove(cat(file_.folder(), ".lock"));
}

TEST_F(SqliteStoreTest, AReadOnlyFolderSaysSo) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  TemporaryFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0500), 0);

  auto refused = file_.open(folder.file("errand.db"));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            cat("cannot open ", folder.file("errand.db.lock"), ": Permission denied"));
}

TEST_F(SqliteStoreTest, AFileThatIsNoDatabaseSaysSo) {
  const std::string path = cat(file_.folder(), "/letter.txt");
  std::ofstream(path) << std::string(5000, 'x');

  auto refused = file_.open(path);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(refused.error().message(),
            cat("cannot open the database ", path, ": the file is not a database"));
}

TEST_F(SqliteStoreTest, NobodyElseMayReadItsFiles) {
  create(1);

  EXPECT_EQ(mode(file_.path()), 0600U);
  EXPECT_EQ(mode(file_.path() + "-wal"), 0600U);
  EXPECT_EQ(mode(file_.path() + "-shm"), 0600U);
  EXPECT_EQ(mode(file_.path() + ".lock"), 0600U);
}

TEST_F(SqliteStoreTest, AppendsOfManyRunsShareCommits) {
  std::int64_t epoch = 0;
  for (int number = 0; number < 200; ++number) epoch = create(number);
  const StoreCounts before = file_.store().counts();
  std::vector<Task<Result<Appended>>> batch;
  for (int number = 0; number < 200; ++number) {
    batch.push_back(file_.store().append(commit_of(number, epoch, events_segment(1, 1, 1))));
  }

  auto results = wait_for_all(std::move(batch));

  for (const auto& result : results) EXPECT_TRUE(is_appended(result));
  const StoreCounts after = file_.store().counts();
  EXPECT_EQ(after.writes - before.writes, 200U);
  EXPECT_LE(after.commits - before.commits, 20U);
}

// Each of these writes brings more than a third of the bytes that may wait.
TEST_F(SqliteStoreTest, WritesThatBringTooMuchAtOnceAreRefused) {
  constexpr std::size_t kLarge = 22U * 1024 * 1024;
  auto epoch = create(1);
  create(2);
  Commit opening = commit_of(2, epoch, events_segment(1, 1, 1));
  opening.effects.open = {open_mailbox(2, "tu_a")};
  ASSERT_TRUE(append(opening));
  NewRun run = new_run(3);
  run.effects.blobs = {{.hash = "h1", .bytes = std::make_shared<const std::string>(kLarge, 'x')}};
  RecordChange change{.key = {.workspace = workspace(), .kind = "k", .id = "a"},
                      .body = std::string(kLarge, 'x')};
  auto code_of = [](const auto& result) {
    return result ? std::string() : std::string(to_string(result.error().code()));
  };
  asio::io_context io;
  std::optional<Result<CreateOutcome>> created;
  std::optional<Result<Appended>> appended;
  std::optional<Result<MailOutcome>> mailed;
  std::optional<Result<RecordsOutcome>> changed;
  TaskGroup tasks(io.get_executor(), fail_test);
  SqliteStore& store = file_.store();
  tasks.spawn("create", keep_result(store.create(run), &created));
  tasks.spawn("append",
              keep_result(store.append(commit_of(1, epoch, large_segment(1, kLarge))), &appended));
  tasks.spawn("mail",
              keep_result(store.mail(answer(2, "tu_a", std::string(kLarge, 'x'))), &mailed));
  tasks.spawn("record", keep_result(store.change_records({change}), &changed));
  io.run();

  EXPECT_EQ(code_of(*created), "");
  EXPECT_EQ(code_of(*appended), "");
  EXPECT_EQ(code_of(*mailed), "unavailable");
  EXPECT_EQ(code_of(*changed), "unavailable");
  EXPECT_EQ(store.counts().waiting_bytes, 0U);
  EXPECT_EQ(wait_for(store.mail(answer(2, "tu_a", std::string(kLarge, 'x')))).value(),
            MailOutcome::accepted);
}

TEST_F(SqliteStoreTest, ClosingMakesDurableWhatWasAskedFor) {
  asio::io_context io;
  std::vector<std::optional<Result<CreateOutcome>>> results(50);
  TaskGroup tasks(io.get_executor(), fail_test);
  for (int number = 0; number < 50; ++number) {
    auto* result = &results[static_cast<std::size_t>(number)];
    tasks.spawn("create", keep_result(file_.store().create(new_run(number)), result));
  }
  io.poll();  // asks for all of them

  file_.close();
  io.restart();
  io.run();

  for (const auto& result : results) EXPECT_TRUE(result.value());
  file_.reopen();
  EXPECT_TRUE(find(0));
  EXPECT_TRUE(find(49));
}

TEST_F(SqliteStoreTest, TheWriteAheadLogStaysShort) {
  auto epoch = create(1);
  for (int n = 1; n <= 200; ++n) {
    ASSERT_TRUE(append(commit_of(1, epoch, large_segment(n, 100'000))));
  }

  EXPECT_LT(std::filesystem::file_size(file_.path() + "-wal"), 9U * 1024 * 1024);
  EXPECT_EQ(segments_read(1), 200U);
}

}  // namespace
}  // namespace errand::sqlite_store_test
