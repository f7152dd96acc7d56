#include "store/sqlite/changes/pruning.hpp"

#include "base/text.hpp"
#include "store/sqlite/file/database.hpp"
#include "store/sqlite/sqlite_fixture.hpp"
#include "store/sqlite/upkeep/verify.hpp"

namespace errand::pruning_test {
namespace {

using namespace store_contract;
using Findings = std::vector<std::string>;

// What the write-ahead log grows by for each page that a transaction writes.
constexpr std::uintmax_t kFrameBytes = 4096 + 24;

class PruningTest : public testing::Test {
 protected:
  Store& store() { return file_.store(); }

  static RunBlob blob(std::string hash) {
    auto bytes = std::make_shared<const std::string>(cat("bytes of ", hash));
    return {.hash = std::move(hash), .bytes = std::move(bytes)};
  }
  // A run with so many segments, with labels, a key, a file of its own and one that all share.
  void make(int number, std::int32_t segments, RunStatus status = RunStatus::succeeded) {
    NewRun run = keyed_run(number, cat("key ", number), "same");
    run.row.metadata = R"({"team":"red"})";
    run.effects.blobs = {blob(cat("own ", number)), blob("shared")};
    auto epoch = wait_for(store().create(run)).value().epoch;
    for (std::int32_t n = 1; n <= segments; ++n) {
      Commit commit = commit_of(number, epoch, events_segment(n, n, 1));
      if (n == segments) commit.status = status;
      ASSERT_TRUE(file_.append(commit));
    }
  }
  // All events of a run; "gone" if it is in no list.
  static std::string told(Store& store, int number) {
    if (!wait_for(store.find(run_key(number)))) return "gone";
    std::string text;
    for (const auto& segment : wait_for(store.read_events(run_key(number), 0, 1 << 20)).value()) {
      text += segment->events;
    }
    return text;
  }
  // The rows of some tables once everything that may go has gone.
  static std::vector<std::int64_t> rows_left(const std::string& path) {
    auto database = sqlite::Database::open(path, sqlite::Database::Access::read).value();
    std::vector<std::int64_t> counts;
    for (const char* table :
         {"runs", "segments", "blob_users", "blobs", "labels", "idempotency", "doomed"}) {
      counts.push_back(database->integer(cat("SELECT count(*) FROM ", table)).value());
    }
    return counts;
  }

  SqliteFile file_;
};

// The write-ahead log ends after any of the pages that a step writes. Whatever a killed process
// leaves, each run is whole or gone, and another process removes the rest.
TEST_F(PruningTest, ACrashAtEveryWriteLeavesWholeRunsAndNothingForEver) {
  make(1, 20);
  make(2, 3);
  make(3, 3);
  make(4, 3, RunStatus::waiting);
  const std::vector<std::string> whole = {told(store(), 1), told(store(), 2), told(store(), 3),
                                          told(store(), 4)};
  Prune step = everything_ended(store(), 6);
  step.spared = {run_id(3)};
  const Prune rest{.ended_before = step.ended_before, .spared = step.spared, .segments_max = 100};
  const std::string wal = file_.path() + "-wal";
  int crashes = 0;
  for (bool is_done = false; !is_done;) {
    const auto before = std::filesystem::file_size(wal);
    PruneOutcome outcome = wait_for(store().prune(step)).value();
    is_done = outcome.is_done;
    step.after = outcome.seen;
    for (auto size = before; size <= std::filesystem::file_size(wal); size += kFrameBytes) {
      SCOPED_TRACE(cat("crash ", ++crashes));
      const std::string copy = cat(file_.folder(), "/copy", crashes, ".db");
      std::filesystem::copy_file(file_.path(), copy);
      std::filesystem::copy_file(wal, copy + "-wal");
      std::filesystem::resize_file(copy + "-wal", size);

      auto next = file_.open(copy).value();
      ASSERT_EQ(sqlite::verify(copy).value(), Findings());
      for (int number : {1, 2}) {
        const std::string now = told(*next, number);
        ASSERT_TRUE(now == "gone" || now == whole.at(static_cast<std::size_t>(number - 1))) << now;
      }
      while (!wait_for(next->prune(rest)).value().is_done) {
      }
      ASSERT_EQ(sqlite::verify(copy).value(), Findings());
      ASSERT_EQ(told(*next, 3), whole[2]) << "spared";
      ASSERT_EQ(told(*next, 4), whole[3]) << "unfinished";
      next.reset();
      ASSERT_EQ(rows_left(copy), (std::vector<std::int64_t>{2, 8, 4, 3, 2, 2, 0}));
    }
  }
  EXPECT_EQ(told(store(), 1), "gone");
  EXPECT_GT(crashes, 20);
}

}  // namespace
}  // namespace errand::pruning_test
