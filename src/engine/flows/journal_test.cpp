// A run's journal in pages, as exports read it.
#include <algorithm>
#include <iterator>

#include "engine/flows/test_run.hpp"
#include "engine/residency/paged_journal.hpp"
#include "engine/residency/whole_log.hpp"
#include "json/parse.hpp"
#include "json/redact.hpp"
#include "json/write.hpp"

namespace errand::engine::testing::journal_test {
namespace {

constexpr int kTurns = 16;
constexpr std::size_t kTextBytes = 100 * 1024;
constexpr std::size_t kPageBytes = 256 * 1024;

using Entries = std::vector<std::string>;

// A run whose model says much in every turn.
struct JournalTest : RunTest {
  static std::string script() {
    std::string turns;
    const std::string text(kTextBytes, 'x');
    for (int i = 0; i < kTurns; ++i) {
      append(turns, R"({"text":[")", text, R"("],"toolCalls":[{"name":"idempotent","args":{"i":)",
             i, "}}]},");
    }
    return cat(R"({"turns":[)", turns, R"({"text":["Done."]}]})");
  }

  World world{disk, script()};

  JournalTest() {
    client.spec = spec_with_tools({HostTool{.name = "idempotent"}});
    run(world);
  }

  JournalPage page(std::size_t after, std::size_t limit) {
    return world.result_of(world.engine.journal(someone(), *client.run, after, limit, kPageBytes))
        .value();
  }
  // The entries of all pages, one after the other.
  Entries in_pages(std::size_t limit) {
    Entries all;
    for (bool has_more = true; has_more;) {
      JournalPage next = page(all.size(), limit);
      has_more = next.has_more;
      std::move(next.entries.begin(), next.entries.end(), std::back_inserter(all));
    }
    return all;
  }
  Entries lines_of_journal() {
    const std::string journal = journal_of(stored_run(disk, *client.run).segments);
    Entries lines;
    for (std::string_view rest = journal; !rest.empty();) lines.emplace_back(take_line(rest));
    return lines;
  }
  // As they are shown, without secrets.
  Entries all_shown() {
    Entries shown;
    for (const std::string& line : lines_of_journal()) {
      json::Value entry = *json::parse(line, {.duplicate_keys = json::DuplicateKeys::last_wins});
      json::redact_secrets(entry);
      shown.push_back(json::write(entry));
    }
    return shown;
  }
  std::size_t bytes_of_log() {
    std::size_t bytes = 0;
    for (const SegmentPtr& segment : stored_run(disk, *client.run).segments) {
      bytes += segment->journal.size() + segment->events.size();
    }
    return bytes;
  }
  // The first entry that a reader gives which begins at a place.
  std::string first_from(std::size_t skipped, JournalPlace from) {
    PagedJournal reader(world.store, key_of(*client.run), skipped, from);
    struct Read {
      static Task<std::string> first(PagedJournal* from) {
        auto line = co_await from->next();
        co_return line && *line ? std::string((*line)->text) : "none";
      }
    };
    return world.result_of(Read::first(&reader));
  }
};

TEST_F(JournalTest, PagesOfAnySizeGiveTheWholeJournal) {
  const Entries all = all_shown();
  ASSERT_GE(all.size(), std::size_t{3 * kTurns});
  EXPECT_EQ(in_pages(1000), all);
  EXPECT_EQ(in_pages(7), all);
  EXPECT_EQ(in_pages(1), all);
}

TEST_F(JournalTest, WhoeverReadsPageAfterPageReadsTheLogOnce) {
  const std::size_t before = world.store.log_bytes_read();
  in_pages(4);
  EXPECT_LE(world.store.log_bytes_read() - before, 3 * bytes_of_log());
}

TEST_F(JournalTest, APageCanBeReadAgain) {
  const Entries first = page(0, 5).entries;
  const Entries second = page(5, 5).entries;
  EXPECT_EQ(page(5, 5).entries, second);
  EXPECT_EQ(page(0, 5).entries, first);
}

TEST_F(JournalTest, BehindTheLastEntryThereIsNone) {
  const JournalPage behind = page(lines_of_journal().size() + 3, 5);
  EXPECT_EQ(behind.entries, Entries());
  EXPECT_FALSE(behind.has_more);
}

// As after the store has merged the segments between which the place was.
TEST_F(JournalTest, APlaceThatIsGoneIsLookedForFromTheBeginning) {
  const Entries all = lines_of_journal();
  std::vector<SegmentPtr> segments = stored_run(disk, *client.run).segments;
  const auto merged = std::find_if(segments.begin(), segments.end(),
                                   [](const SegmentPtr& one) { return one->events_count > 1; });
  ASSERT_NE(merged, segments.end());
  EXPECT_EQ(first_from(6, {.entries = 3, .after = (*merged)->first_seq()}), all[6]);
}

TEST(JournalPlaces, ForgetTheOldestPlace) {
  JournalPlaces places;
  const RunId run = *RunId::parse("run_1");
  for (std::size_t n = 0; n <= JournalPlaces::kPlacesMax; ++n) {
    places.keep(run, n, {.entries = n, .after = 1});
  }
  EXPECT_EQ(places.find(run, 0), JournalPlace());
  EXPECT_EQ(places.find(run, 1), (JournalPlace{.entries = 1, .after = 1}));
  EXPECT_EQ(places.find(*RunId::parse("run_2"), 1), JournalPlace());
}

}  // namespace
}  // namespace errand::engine::testing::journal_test
