#include "store/sqlite/file/database.hpp"
#include "store/sqlite/run_lists.hpp"
#include "store/sqlite/sqlite_fixture.hpp"

// What the file, its log and each commit take, and what is given back.
namespace errand::growth_test {
namespace {

using namespace store_contract;
using sqlite::Database;

constexpr std::uintmax_t kMegabyte = 1024 * 1024;

class GrowthTest : public testing::Test {
 protected:
  Store& store() { return file_.store(); }
  std::int64_t create(int number) {
    return wait_for(store().create(new_run(number))).value().epoch;
  }
  // A run that need not wait.
  std::int64_t start(int number) {
    NewRun run = new_run(number);
    run.row.status = RunStatus::running;
    return wait_for(store().create(std::move(run))).value().epoch;
  }
  // Appends `count` segments of 50 KB and ends the run with one more.
  void fill(int number, int count) {
    auto epoch = create(number);
    for (int n = 1; n <= count; ++n) {
      ASSERT_TRUE(file_.append(commit_of(number, epoch, large_segment(n, 50'000))));
    }
    Segment last = large_segment(count + 1, 10);
    ASSERT_TRUE(file_.append(last_commit(number, epoch, last)));
  }
  // Prunes everything that has ended, and says how many steps it takes.
  int prune_all() {
    const Prune step = everything_ended(store(), 10);
    int steps = 1;
    while (!wait_for(store().prune(step)).value().is_done) ++steps;
    return steps;
  }
  std::int64_t count(const char* table) {
    auto reader = Database::open(file_.path(), Database::Access::read).value();
    return reader->integer(cat("SELECT count(*) FROM ", table)).value();
  }
  std::uintmax_t log_bytes() { return std::filesystem::file_size(file_.path() + "-wal"); }
  std::uint64_t pages() { return file_.store().counts().pages; }

  SqliteFile file_;
};

TEST_F(GrowthTest, TheRoomOfRunsThatAreRemovedIsGivenBack) {
  fill(1, 100);
  fill(2, 100);
  create(3);
  file_.reopen();
  EXPECT_GT(std::filesystem::file_size(file_.path()), 9 * kMegabyte);

  const int steps = prune_all();
  file_.reopen();

  EXPECT_GT(steps, 20);
  EXPECT_LT(std::filesystem::file_size(file_.path()), kMegabyte / 4);
  EXPECT_EQ(count("segments"), 1);
  EXPECT_EQ(count("doomed"), 0);
  EXPECT_TRUE(wait_for(store().find(run_key(3))));
}

TEST_F(GrowthTest, ALogThatLeadsAstrayTakesNothingOfAnotherRunAlong) {
  fill(1, 2);
  create(2);
  file_.close();
  {
    auto database = Database::open(file_.path(), Database::Access::write).value();
    ASSERT_TRUE(database->execute(
        "UPDATE segments SET previous = (SELECT place FROM segments WHERE run = 'run_1002') "
        "WHERE run = 'run_1001' AND n = 2"));
  }
  file_.reopen();

  prune_all();

  EXPECT_EQ(read_journal(store(), run_key(2)), "{\"created\":1}\n");
}

TEST_F(GrowthTest, TheIdOfARunThatIsBeingRemovedIsNotGivenAgain) {
  fill(1, 30);
  ASSERT_FALSE(wait_for(store().prune(everything_ended(store(), 10))).value().is_done);

  auto refused = wait_for(store().create(new_run(1)));
  prune_all();

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  EXPECT_TRUE(wait_for(store().create(new_run(1))));
}

TEST_F(GrowthTest, KeysGoWhenTheyAreOverAndWithTheirRuns) {
  auto epoch = wait_for(store().create(keyed_run(1, "key 1", "same"))).value().epoch;
  ASSERT_TRUE(wait_for(store().create(keyed_run(2, "key 2", "same"))));
  ASSERT_TRUE(file_.append(last_commit(1, epoch, events_segment(1, 1, 1))));

  prune_all();
  EXPECT_EQ(count("idempotency"), 1);
  EXPECT_EQ(wait_for(store().create(keyed_run(3, "key 1", "same"))).value().kind,
            Creation::created);

  file_.clock().pass(kIdempotencyKept);
  prune_all();
  EXPECT_EQ(count("idempotency"), 0);
}

TEST_F(GrowthTest, AnAppendThatDoesNotEndItsRunWritesTwoPages) {
  auto epoch = start(1);
  const std::uint64_t before = pages();

  for (int n = 1; n <= 10; ++n) {
    ASSERT_TRUE(file_.append(commit_of(1, epoch, events_segment(n, n, 1))));
  }

  EXPECT_EQ(pages() - before, 10U * 2) << "run and segment";
}

TEST_F(GrowthTest, ARunBeginsWithFourPagesAndEndsWithFive) {
  auto epoch = start(1);
  const std::uint64_t before = pages();
  start(2);
  const std::uint64_t created = pages();
  ASSERT_TRUE(file_.append(last_commit(1, epoch, events_segment(1, 1, 1))));

  EXPECT_EQ(created - before, 4U) << "segment and its anchor, run and the index of those at work";
  EXPECT_EQ(pages() - created, 5U) << "segment, run, and the indices that it leaves and joins";
}

TEST_F(GrowthTest, ARunThatHasToWaitMovesToAnotherIndexWhenItStarts) {
  auto epoch = create(1);
  const std::uint64_t before = pages();
  create(2);
  const std::uint64_t created = pages();
  ASSERT_TRUE(file_.append(commit_of(1, epoch, events_segment(1, 1, 1))));
  const std::uint64_t started = pages();
  ASSERT_TRUE(file_.append(commit_of(1, epoch, events_segment(2, 2, 1))));

  EXPECT_EQ(created - before, 4U) << "segment and its anchor, run and the index of those that wait";
  EXPECT_EQ(started - created, 2U + 2) << "and both indices";
  EXPECT_EQ(pages() - started, 2U);
}

TEST_F(GrowthTest, ARunThatBeginsToWaitForItsClientWritesAPageMore) {
  auto epoch = start(1);
  const std::uint64_t before = pages();
  Commit waiting = commit_of(1, epoch, events_segment(1, 1, 1));
  waiting.status = RunStatus::waiting;

  ASSERT_TRUE(file_.append(waiting));

  EXPECT_EQ(pages() - before, 2U + 1) << "the index of those at work knows the status";
}

// Counted in steps of SQLite's machine, by thousands.
TEST_F(GrowthTest, RunsAtWorkAreListedWithoutALookAtThoseThatWait) {
  start(1);
  for (int number = 2; number <= 3000; ++number) create(number);
  auto reader = Database::open(file_.path(), Database::Access::read).value();
  sqlite::RunLists lists(*reader);
  int work = 0;
  reader->while_working([&work] { ++work; });
  RunFilter running{.workspace = workspace(), .status = RunStatus::running};

  ASSERT_TRUE(reader->execute("BEGIN"));
  auto found = lists.list(running);
  ASSERT_TRUE(reader->execute("COMMIT"));

  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), 1U);
  EXPECT_LE(work, 1);
}

TEST_F(GrowthTest, FreePagesAreUsedAgainBeforeTheyAreGivenBack) {
  for (int number = 1; number <= 10; ++number) fill(number, 5);
  create(11);
  file_.reopen();
  const auto before = std::filesystem::file_size(file_.path());
  ASSERT_TRUE(wait_for(store().claim({.limit = 10})));
  Prune one = everything_ended(store(), 100);
  for (int number = 2; number <= 10; ++number) one.spared.insert(run_id(number));

  EXPECT_TRUE(wait_for(store().prune(one)).value().is_done);
  file_.reopen();

  EXPECT_EQ(std::filesystem::file_size(file_.path()), before);
}

TEST_F(GrowthTest, TheWriteAheadLogIsShortAgainOnceAReaderIsDone) {
  auto epoch = create(1);
  auto reader = Database::open(file_.path(), Database::Access::read).value();
  ASSERT_TRUE(reader->execute("BEGIN; SELECT count(*) FROM runs;"));
  std::int32_t n = 1;
  for (; n <= 250; ++n) {
    ASSERT_TRUE(file_.append(commit_of(1, epoch, large_segment(n, 50'000))));
  }
  const std::uintmax_t while_reading = log_bytes();

  ASSERT_TRUE(reader->execute("COMMIT"));
  for (; n <= 253; ++n) {
    ASSERT_TRUE(file_.append(commit_of(1, epoch, large_segment(n, 50'000))));
  }

  EXPECT_GT(while_reading, 12 * kMegabyte);
  EXPECT_LE(log_bytes(), 8 * kMegabyte) << "what journal_size_limit says";
}

TEST_F(GrowthTest, TheWriteAheadLogIsUsedAgainFromItsStart) {
  auto epoch = create(1);
  std::uintmax_t longest = 0;
  for (int n = 1; n <= 500; ++n) {
    ASSERT_TRUE(file_.append(commit_of(1, epoch, large_segment(n, 50'000))));
    ASSERT_TRUE(wait_for(store().find(run_key(1))));
    longest = std::max(longest, log_bytes());
  }

  EXPECT_LT(longest, 5 * kMegabyte);
}

}  // namespace
}  // namespace errand::growth_test
