#include "engine/residency/live_run.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "engine/residency/subscription.hpp"
#include "store/memory/memory_store.hpp"
#include "support/manual_clock.hpp"
#include "support/run_task.hpp"

namespace errand::engine::live_run_test {
namespace {

using LivePtr = std::shared_ptr<LiveRun>;

// Writes down what it is told of readers.
struct NotingKeeper final : LiveRun::Keeper {
  void on_end(LiveRun&) override {}
  void on_waiting(LiveRun&) override {}
  void on_waiting_for_child(LiveRun&) override {}
  void on_going_on(LiveRun&) override {}
  void on_calls_offered(LiveRun&, std::span<const Mailbox>) override {}
  void on_calls_closed(LiveRun&, std::span<const std::string>) override {}
  void on_broken(LiveRun&, const Error&) override {}
  void on_turn_given(LiveRun&, std::optional<RunId>) override {}
  void on_read_after_end(LiveRun& run, bool is_read) override {
    told.push_back(cat(run.id().view(), is_read ? " is read" : " is not read"));
  }
  void on_unused(LiveRun& run) override { told.push_back(cat(run.id().view(), " is unused")); }

  std::vector<std::string> told;
};

struct LiveRunTest : ::testing::Test {
  using Lines = std::vector<std::string>;

  LivePtr make_run(RunStatus status) {
    RunRow row{.id = *RunId::parse("run_1"),
               .workspace = *WorkspaceSlug::parse("default"),
               .status = status};
    return std::make_shared<LiveRun>(row, keeper);
  }
  std::unique_ptr<Subscription> read(const LivePtr& run) {
    return std::make_unique<Subscription>(store_, budget_, run, 0, io_.get_executor());
  }
  static void commit(const LivePtr& run, RunStatus status) {
    agent::Committed commit;
    commit.segment = std::make_shared<const Segment>();
    commit.status = status;
    run->on_commit(commit);
  }

  // What a reader gets without waiting.
  Subscription::Batch next(Subscription& reader) {
    return run_task(io_, reader.next(SteadyTime()));
  }

  NotingKeeper keeper;

 private:
  asio::io_context io_{1};
  ManualClock clock_{1'800'000'000'000};
  MemoryStore store_{make_memory_store_data(), clock_};
  ReaderBudget budget_{1024};
};

TEST_F(LiveRunTest, TellsWhenSomebodyReadsARunThatHasEnded) {
  LivePtr run = make_run(RunStatus::succeeded);
  auto one = read(run);
  auto other = read(run);
  one.reset();
  EXPECT_EQ(keeper.told, (Lines{"run_1 is read"}));
  other.reset();
  EXPECT_EQ(keeper.told, (Lines{"run_1 is read", "run_1 is not read", "run_1 is unused"}));
}

TEST_F(LiveRunTest, TellsReadersThatWantToKnowWhenTheModelIsAskedAgain) {
  LivePtr run = make_run(RunStatus::running);
  auto deaf = read(run);
  auto early = read(run);
  early->hear_retries();
  const ModelRetry retry{.why = "busy", .until = SteadyTime(seconds(9))};
  run->on_retry(retry);
  auto late = read(run);
  late->hear_retries();
  for (Subscription* reader : {early.get(), late.get()}) {
    Subscription::Batch batch = next(*reader);
    EXPECT_EQ(batch.state, Subscription::Batch::State::more);
    ASSERT_TRUE(batch.retry);
    EXPECT_EQ(batch.retry->why, "busy");
    EXPECT_EQ(batch.retry->until, retry.until);
    EXPECT_EQ(next(*reader).state, Subscription::Batch::State::idle);
  }
  EXPECT_EQ(next(*deaf).state, Subscription::Batch::State::idle);
}

TEST_F(LiveRunTest, TellsWhenARunEndsThatSomebodyReads) {
  LivePtr run = make_run(RunStatus::running);
  auto reader = read(run);
  commit(run, RunStatus::running);
  EXPECT_EQ(keeper.told, Lines());
  commit(run, RunStatus::failed);
  EXPECT_EQ(keeper.told, (Lines{"run_1 is read"}));
}

}  // namespace
}  // namespace errand::engine::live_run_test
