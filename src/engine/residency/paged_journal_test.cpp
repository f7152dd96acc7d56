#include "engine/residency/paged_journal.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "store/memory/memory_store.hpp"
#include "store/store_contract.hpp"
#include "support/run_task.hpp"

namespace errand::engine::paged_journal_test {
namespace {

using namespace store_contract;
using Lines = std::vector<std::string>;

// More than a page may have.
constexpr std::size_t kLongLine = 300U * 1024;

struct PagedJournalTest : ::testing::Test {
  PagedJournalTest() { epoch_ = wait_for(store.create(new_run(1))).value().epoch; }

  // A segment of the run, with its events and one line in the journal.
  void add(Segment segment) {
    ASSERT_TRUE(is_appended(wait_for(store.append(commit_of(1, epoch_, std::move(segment))))));
  }
  // An entry so long that the page ends with its segment.
  static Segment long_segment(std::int32_t n, EventSeq seq) {
    Segment segment = events_segment(n, seq, 1);
    segment.journal.insert(0, kLongLine, ' ');
    return segment;
  }
  // Without the spaces that make an entry long.
  std::string next() {
    auto line = run_task(io_, journal.next());
    return line && *line ? std::string(trim((*line)->text)) : "none";
  }
  Lines rest() {
    Lines lines;
    for (std::string line = next(); line != "none"; line = next()) lines.push_back(line);
    return lines;
  }

 private:
  asio::io_context io_{1};
  ManualClock clock_{1'800'000'000'000};
  std::int64_t epoch_ = 0;

 public:
  MemoryStore store{make_memory_store_data(), clock_};
  PagedJournal journal{store, run_key(1), 0, {}};
};

TEST_F(PagedJournalTest, OfARunThatGrowsHasNoGap) {
  add(long_segment(1, 1));
  EXPECT_EQ(next(), "{\"created\":1}");
  add(events_segment(2, 2, 0));
  add(long_segment(3, 2));
  add(events_segment(4, 3, 0));
  EXPECT_EQ(rest(), (Lines{"{\"n\":1}", "{\"n\":2}", "{\"n\":3}", "{\"n\":4}"}));
}

TEST_F(PagedJournalTest, EndsWhereTheLogEndedWithItsLastPage) {
  add(events_segment(1, 1, 1));
  EXPECT_EQ(next(), "{\"created\":1}");
  add(events_segment(2, 2, 1));
  EXPECT_EQ(rest(), Lines{"{\"n\":1}"});
  EXPECT_EQ(next(), "none");
}

}  // namespace
}  // namespace errand::engine::paged_journal_test
