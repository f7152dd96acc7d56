#include "store/sqlite/changes/merging.hpp"

#include "base/text.hpp"
#include "store/log_pages.hpp"
#include "store/sqlite/file/database.hpp"
#include "store/sqlite/sqlite_fixture.hpp"
#include "store/sqlite/upkeep/verify.hpp"

namespace errand::merging_test {
namespace {

using namespace store_contract;
using Findings = std::vector<std::string>;

class MergingTest : public testing::Test {
 protected:
  Store& store() { return file_.store(); }
  // Creates a run, appends segments of these sizes, and ends it with the last of them.
  void make(int number, const std::vector<std::size_t>& sizes) {
    auto epoch = wait_for(store().create(new_run(number))).value().epoch;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto n = static_cast<std::int32_t>(i + 1);
      Commit commit = commit_of(number, epoch, sized_segment(n, sizes[i]));
      if (i + 1 == sizes.size()) commit.status = RunStatus::succeeded;
      ASSERT_TRUE(file_.append(commit));
    }
  }
  // An event of so many bytes, which says its seq.
  static Segment sized_segment(std::int32_t n, std::size_t bytes) {
    Segment segment = events_segment(n, n, 1);
    const std::string head = cat("{\"seq\":", n, "}");
    if (bytes > head.size()) segment.events = head + std::string(bytes - head.size(), ' ') + "\n";
    return segment;
  }
  std::vector<Segment> log(int number) {
    std::vector<Segment> out;
    for (const auto& segment : wait_for(store().read_log(run_key(number), -1, 1 << 30)).value()) {
      out.push_back(*segment);
    }
    return out;
  }
  std::vector<std::int32_t> numbers(int number) {
    std::vector<std::int32_t> out;
    for (const Segment& segment : log(number)) out.push_back(segment.n);
    return out;
  }
  static std::string all_events(Store& store, int number = 1) {
    std::string out;
    for (const auto& segment : wait_for(store.read_events(run_key(number), 0, 1 << 30)).value()) {
      out += segment->events;
    }
    return out;
  }
  std::string events(int number) { return all_events(store(), number); }
  std::string journal(int number) { return read_journal(store(), run_key(number)); }
  std::int32_t segments_of(int number) {
    return wait_for(store().find(run_key(number))).value().segments;
  }
  bool prune(std::size_t segments_max) {
    return wait_for(store().prune({.segments_max = segments_max})).value().is_done;
  }
  void merge_all(std::size_t segments_max = 1000) {
    file_.clock().pass(std::chrono::hours(1));
    while (!prune(segments_max)) {
    }
  }
  std::int64_t pages_in_use() {
    auto database = sqlite::Database::open(file_.path(), sqlite::Database::Access::read).value();
    return database->integer("PRAGMA page_count").value() -
           database->integer("PRAGMA freelist_count").value();
  }
  Findings verify() { return sqlite::verify(file_.path()).value(); }

  SqliteFile file_;
};

TEST_F(MergingTest, AHandfulOfSegmentsBecomesOneWithEverythingInIt) {
  make(1, {100, 100, 100});
  const std::vector<Segment> before = log(1);
  Segment expected = before.back();
  expected.n = 0;
  expected.events_count = 3;
  expected.journal.clear();
  expected.events.clear();
  for (const Segment& segment : before) {
    expected.journal += segment.journal;
    expected.events += segment.events;
  }

  merge_all();

  EXPECT_EQ(log(1), std::vector{expected});
  EXPECT_EQ(segments_of(1), 1);
  EXPECT_EQ(verify(), Findings());
}

TEST_F(MergingTest, LogsOfOneOrTwoSegmentsStayAsTheyAre) {
  make(1, {100});
  const std::vector<Segment> before = log(1);
  const std::uint64_t pages = file_.store().counts().pages;
  file_.clock().pass(std::chrono::hours(1));
  ASSERT_TRUE(prune(1000));

  EXPECT_EQ(log(1), before);
  EXPECT_LE(file_.store().counts().pages - pages, 3U) << "the progress and the clock";
}

TEST_F(MergingTest, RunsAreMergedOnlyOnceTheyEndedAWhileAgo) {
  make(1, {100, 100, 100});
  ASSERT_TRUE(wait_for(store().create(new_run(2))));
  for (int n = 1; n <= 5; ++n) {
    ASSERT_TRUE(file_.append(commit_of(2, store().epoch(), sized_segment(n, 100))));
  }

  file_.clock().pass(milliseconds(60'000));
  ASSERT_TRUE(prune(1000));
  EXPECT_EQ(segments_of(1), 4);
  file_.clock().pass(milliseconds(1));
  ASSERT_TRUE(prune(1000));

  EXPECT_EQ(segments_of(1), 1);
  EXPECT_EQ(segments_of(2), 6) << "it goes on";
}

TEST_F(MergingTest, ALogThatWouldTakeMoreRoomStaysAsItIs) {
  make(1, std::vector<std::size_t>(9, 270));

  merge_all();

  EXPECT_EQ(segments_of(1), 10) << "merged, it would have a page of its own";
  EXPECT_EQ(verify(), Findings());
}

TEST_F(MergingTest, MergedSegmentsHaveAtMostTheirSize) {
  make(1, std::vector<std::size_t>(50, 10'000));
  const std::string all = events(1);

  merge_all();

  for (const Segment& segment : log(1)) {
    EXPECT_LE(segment.events.size() + segment.journal.size(), kSegmentBytesMax);
  }
  EXPECT_EQ(segments_of(1), 9);
  EXPECT_EQ(numbers(1), (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(events(1), all);
}

// Of streamed text the database keeps less than readers get.
TEST_F(MergingTest, MergedSegmentsOfStreamedTextHaveAtMostTheirSize) {
  auto epoch = wait_for(store().create(new_run(1))).value().epoch;
  std::string all;
  EventSeq seq = 0;
  for (std::int32_t n = 1; n <= 10; ++n) {
    Segment segment = events_segment(n, seq + 1, 500);
    segment.events.clear();
    while (seq < segment.last_seq) {
      append_event_line(segment.events, ++seq, AssistantDelta{.text = "a"});
    }
    all += segment.events;
    ASSERT_TRUE(
        file_.append(n < 10 ? commit_of(1, epoch, segment) : last_commit(1, epoch, segment)));
  }

  merge_all();

  EXPECT_EQ(events(1), all);
  EXPECT_GT(segments_of(1), 1);
  EXPECT_LT(segments_of(1), 11);
  for (const Segment& segment : log(1)) {
    EXPECT_LE(segment.events.size() + segment.journal.size(), kSegmentBytesMax);
  }
}

TEST_F(MergingTest, ALargeSegmentIsLeftAloneBetweenSmallOnes) {
  make(1, {70'000, 100, 100, 70'000, 100, 100, 100});
  const std::string all = events(1);
  const std::string all_journal = journal(1);

  merge_all();

  EXPECT_EQ(segments_of(1), 5);
  EXPECT_EQ(numbers(1), (std::vector{0, 1, 2, 3, 4}));
  EXPECT_EQ(events(1), all);
  EXPECT_EQ(journal(1), all_journal);
  EXPECT_EQ(verify(), Findings());
}

TEST_F(MergingTest, ALogIsWholeAfterEveryStepAndFromEverySeq) {
  std::vector<std::size_t> sizes(300, 1500);
  for (std::size_t i = 100; i < 300; i += 50) sizes[i] = 80'000;
  make(1, sizes);
  const std::string all = events(1);
  const std::string all_journal = journal(1);
  file_.clock().pass(std::chrono::hours(1));

  int steps = 0;
  for (bool is_done = false; !is_done; ++steps) {
    is_done = prune(10);
    ASSERT_EQ(events(1), all);
    ASSERT_EQ(journal(1), all_journal);
    ASSERT_EQ(verify(), Findings());
    const std::vector<std::int32_t> found = numbers(1);
    ASSERT_EQ(static_cast<std::int32_t>(found.size()), segments_of(1));
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i], static_cast<std::int32_t>(i));
    }
  }

  EXPECT_GT(steps, 5);
  EXPECT_LT(segments_of(1), 20);
}

// Goes through a log page by page while it is merged, and gives every event line once.
std::string read_by_seq(Store& store, const std::function<void()>& between) {
  std::string out;
  EventSeq seen = 0;
  for (;;) {
    auto page = wait_for(store.read_events(run_key(1), seen, 4000)).value();
    if (page.empty()) return out;
    for (const SegmentPtr& segment : page) {
      std::string_view rest = segment->events;
      for (EventSeq seq = segment->first_seq(); seq <= segment->last_seq; ++seq) {
        const std::string_view line = rest.substr(0, rest.find('\n') + 1);
        rest.remove_prefix(line.size());
        if (seq > seen) out += line;
      }
      seen = segment->last_seq;
    }
    between();
  }
}

TEST_F(MergingTest, AReaderInTheMiddleOfALogGetsEveryEventOnce) {
  make(1, std::vector<std::size_t>(300, 1500));
  const std::string all = events(1);
  file_.clock().pass(std::chrono::hours(1));

  EXPECT_EQ(read_by_seq(store(), [this] { prune(5); }), all);
  EXPECT_LT(segments_of(1), 10);
}

TEST_F(MergingTest, AWholeLogThatIsReadInPagesHasEverythingOnce) {
  make(1, std::vector<std::size_t>(300, 1500));
  const std::string all = events(1);
  const std::string all_journal = journal(1);
  file_.clock().pass(std::chrono::hours(1));

  LogPages pages;
  int count = 0;
  while (!pages.is_whole()) {
    pages.add(wait_for(store().read_log(run_key(1), pages.after(), 20'000)).value());
    if (++count % 4 == 0) prune(5);
  }
  std::string events_read;
  std::string journal_read;
  for (const SegmentPtr& segment : pages.take()) {
    events_read += segment->events;
    journal_read += segment->journal;
  }

  EXPECT_LT(segments_of(1), 10) << "it was merged meanwhile";
  EXPECT_EQ(events_read, all);
  EXPECT_EQ(journal_read, all_journal);
}

TEST_F(MergingTest, AnotherProcessGoesOnWhereOneStopped) {
  make(1, std::vector<std::size_t>(200, 2000));
  make(2, {100, 100, 100});
  const std::string all = events(1);
  file_.clock().pass(std::chrono::hours(1));
  ASSERT_FALSE(prune(10));
  EXPECT_GT(segments_of(1), 10);

  file_.reopen();
  EXPECT_EQ(events(1), all);
  merge_all(10);

  EXPECT_LT(segments_of(1), 10);
  EXPECT_EQ(segments_of(2), 1);
  EXPECT_EQ(events(1), all);
  EXPECT_EQ(verify(), Findings());
}

// The write-ahead log ends after any of the pages that a step writes.
TEST_F(MergingTest, ACrashAtEveryWriteLeavesAWholeLog) {
  make(1, std::vector<std::size_t>(60, 2000));
  const std::string all = events(1);
  const std::string all_journal = journal(1);
  file_.clock().pass(std::chrono::hours(1));
  const std::string wal = file_.path() + "-wal";
  int crashes = 0;
  for (bool is_done = false; !is_done;) {
    const auto before = std::filesystem::file_size(wal);
    is_done = prune(10);
    for (auto size = before; size <= std::filesystem::file_size(wal); size += 4096 + 24) {
      const std::string copy = cat(file_.folder(), "/copy", ++crashes, ".db");
      std::filesystem::copy_file(file_.path(), copy);
      std::filesystem::copy_file(wal, copy + "-wal");
      std::filesystem::resize_file(copy + "-wal", size);

      auto next = file_.open(copy).value();
      ASSERT_EQ(sqlite::verify(copy).value(), Findings()) << crashes;
      ASSERT_EQ(all_events(*next), all) << crashes;
      ASSERT_EQ(read_journal(*next, run_key(1)), all_journal) << crashes;
    }
  }
  EXPECT_GT(crashes, 20);
}

TEST_F(MergingTest, ARunMayBeRemovedWhileItIsMerged) {
  make(1, std::vector<std::size_t>(200, 2000));
  make(2, {100, 100, 100});
  file_.clock().pass(std::chrono::hours(1));
  ASSERT_FALSE(prune(10));
  ASSERT_GT(segments_of(1), 10);

  Prune step = everything_ended(store(), 10);
  step.spared = {run_id(2)};
  while (!wait_for(store().prune(step)).value().is_done) {
    ASSERT_EQ(verify(), Findings());
  }

  EXPECT_EQ(segments_of(2), 1);
  EXPECT_EQ(verify(), Findings());
  file_.close();
  auto database = sqlite::Database::open(file_.path(), sqlite::Database::Access::read).value();
  EXPECT_EQ(database->integer("SELECT count(*) FROM segments").value(), 1);
}

TEST_F(MergingTest, TheIdOfAMergedRunIsNotGivenAgain) {
  make(1, {100, 100, 100});
  merge_all();

  EXPECT_EQ(wait_for(store().create(new_run(1))).error().code(), ErrorCode::conflict);
}

TEST_F(MergingTest, RunsOfANewerFormatAreLeftAlone) {
  make(1, {100, 100, 100});
  file_.close();
  {
    auto database = sqlite::Database::open(file_.path(), sqlite::Database::Access::write).value();
    ASSERT_TRUE(database->execute(cat("UPDATE runs SET format = ", kRunFormat + 1)));
  }
  file_.reopen();
  merge_all();

  EXPECT_EQ(segments_of(1), 4);
}

TEST_F(MergingTest, MergedLogsTakeLessRoom) {
  for (int number = 1; number <= 5; ++number) {
    ASSERT_TRUE(wait_for(store().create(new_run(number))));
    std::vector<Task<Result<Appended>>> appends;
    for (int n = 1; n <= 500; ++n) {
      Commit commit = commit_of(number, store().epoch(), sized_segment(n, 100));
      if (n == 500) commit.status = RunStatus::succeeded;
      appends.push_back(store().append(commit));
    }
    for (const auto& result : wait_for_all(std::move(appends))) ASSERT_TRUE(is_appended(result));
  }
  const std::int64_t before = pages_in_use();

  merge_all();

  EXPECT_LT(pages_in_use(), before * 9 / 10);
  EXPECT_EQ(verify(), Findings());
}

}  // namespace
}  // namespace errand::merging_test
