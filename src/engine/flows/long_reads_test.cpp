// Reads that take the store long, or much memory, go a few at a time; all others pass them by.
#include <algorithm>
#include <optional>
#include <string>

#include "engine/flows/test_session.hpp"

namespace errand::engine::testing::long_reads_test {
namespace {

constexpr std::string_view kAnswer = R"({"turns":[{"text":["Done."]}]})";

struct LongReadsTest : SessionTest {
  World world{disk, kAnswer};
  int reads = 0;  // of the store, since it stopped to answer

  // The store lets so many more reads through, and answers none after those.
  void stop_after(int let_through) {
    reads = 0;
    world.fault = [this, let_through](FaultyStore::Operation op) {
      if (op.kind != FaultyStore::Kind::read) return FaultyStore::Fault::none;
      return ++reads <= let_through ? FaultyStore::Fault::none : FaultyStore::Fault::stop_before;
    };
  }
  RunId ended_run() {
    Spec spec;
    spec.prompt = "Hi";
    RunId run = world.result_of(world.engine.create(someone(), std::move(spec), {})).value();
    world.pass(milliseconds(1000));
    return run;
  }
  template <class T>
  static Task<void> wait_for(Task<T> read, bool* is_done) {
    [[maybe_unused]] auto result = co_await std::move(read);
    *is_done = true;
  }
  // Starts a read that nobody waits for.
  template <class T>
  void start(Task<T> read) {
    static bool ignored = false;
    world.tasks.spawn("read", wait_for(std::move(read), &ignored));
  }
};

constexpr int kMany = 9;

TEST_F(LongReadsTest, TwoOfManyWholeLogsAreReadAtATime) {
  const RunId run = ended_run();
  stop_after(kMany);  // the rows of the runs
  for (int i = 0; i < kMany; ++i) start(world.engine.get(someone(), run));
  world.settle();
  EXPECT_EQ(reads, kMany + 2);
}

TEST_F(LongReadsTest, ForksAndJournalsWaitWithThem) {
  const RunId run = ended_run();
  stop_after(3);
  start(world.engine.fork(someone(), run, {}, {}));
  start(world.engine.journal(someone(), run, 0, 10, 1000));
  start(world.engine.get(someone(), run));
  world.settle();
  EXPECT_EQ(reads, 3 + 2);
}

// A run whose journal is many times longer than what is read of it at once.
struct LongRunTest : RunTest {
  static constexpr std::size_t kTurns = 24;
  static constexpr std::size_t kTextBytes = 60U * 1024;
  static constexpr std::size_t kPageBytes = 256U * 1024;

  static std::string script() {
    std::string turns;
    const std::string text(kTextBytes, 'x');
    for (std::size_t i = 0; i < kTurns; ++i) {
      append(turns, R"({"text":[")", text, R"("],"toolCalls":[{"name":"idempotent","args":{"i":)",
             i, "}}]},");
    }
    return cat(R"({"turns":[)", turns, R"({"text":["Done."]}]})");
  }

  World world{disk, script()};
  std::size_t journal_bytes = 0;
  std::size_t longest_segment = 0;
  std::size_t reads = 0;  // of the store, since the run has ended

  LongRunTest() {
    client.spec = spec_with_tools({HostTool{.name = "idempotent"}});
    run(world);
    for (const SegmentPtr& segment : stored_run(disk, *client.run).segments) {
      journal_bytes += segment->journal.size();
      longest_segment = std::max(longest_segment, segment->journal.size());
    }
    world.fault = [this](FaultyStore::Operation op) {
      if (op.kind == FaultyStore::Kind::read) ++reads;
      return FaultyStore::Fault::none;
    };
  }
};

TEST_F(LongRunTest, IsShownFromPagesOfItsJournal) {
  ASSERT_GT(journal_bytes, 4 * kPageBytes);
  const std::size_t before = world.store.log_bytes_read();
  auto shown = world.result_of(world.engine.get(someone(), *client.run));
  ASSERT_TRUE(shown);
  EXPECT_EQ(*shown->state->final_text(), "Done.");
  EXPECT_EQ(world.store.log_bytes_read() - before, journal_bytes);
  EXPECT_LT(world.store.longest_log_read(), kPageBytes + longest_segment);
  constexpr std::size_t kOtherReads = 2;  // of the run's row, and of its mailboxes
  EXPECT_GE(reads - kOtherReads, journal_bytes / (kPageBytes + longest_segment));
}

TEST_F(LongReadsTest, AShortRunIsShownFromOneReadOfItsJournal) {
  const RunId run = ended_run();
  stop_after(3);
  EXPECT_TRUE(world.result_of(world.engine.get(someone(), run)));
  EXPECT_EQ(reads, 3);
}

TEST_F(LongReadsTest, CountsAndFilteredListsTakeTwoThreadsOfTheStoreAtMost) {
  stop_after(0);
  const SessionFilter skipping{.workspace = someone().workspace, .offset = 1000};
  const SessionFilter labelled{.workspace = someone().workspace, .metadata = {{"a", "b"}}};
  for (int i = 0; i < kMany; ++i) {
    start(world.engine.count_sessions({.workspace = someone().workspace}));
    start(world.engine.list_sessions(skipping));
    start(world.engine.list_sessions(labelled));
    start(world.engine.list({.workspace = someone().workspace, .metadata = {{"a", "b"}}}));
  }
  world.settle();
  EXPECT_EQ(reads, 2);
}

TEST_F(LongReadsTest, PlainListsPassBy) {
  stop_after(0);
  for (int i = 0; i < kMany; ++i) {
    start(world.engine.count_sessions({.workspace = someone().workspace}));
  }
  world.settle();
  stop_after(2);
  EXPECT_TRUE(world.result_of(world.engine.list({.workspace = someone().workspace})));
  EXPECT_TRUE(world.result_of(world.engine.list_sessions({.workspace = someone().workspace})));
}

}  // namespace
}  // namespace errand::engine::testing::long_reads_test
