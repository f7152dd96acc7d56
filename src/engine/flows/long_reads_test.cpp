// Reads that take the store long, or much memory, go a few at a time; all others pass them by.
#include <optional>

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
