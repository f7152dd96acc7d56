#include "agent/run_log.hpp"

#include <boost/asio/io_context.hpp>

#include "store/memory/memory_store.hpp"
#include "store/memory/test_faulty_store.hpp"
#include "store/store_contract.hpp"

namespace errand::agent::run_log_test {
namespace {

using namespace store_contract;

// Two runs with their logs, in time that the test moves.
class RunLogTest : public testing::Test {
 protected:
  RunLogTest() {
    EXPECT_TRUE(wait_for(store_.create(new_run(1))));
    EXPECT_TRUE(wait_for(store_.create(new_run(2))));
  }
  RunLog::Deps deps() { return deps(store_); }
  RunLog::Deps deps(Store& store) {
    return {store, clock_, timers_, tasks_, io_.get_executor(), counters_};
  }
  RunLog::Options options(int run) {
    return {.key = {.workspace = workspace(), .run = run_id(run)},
            .epoch = store_.epoch(),
            .segments = 1,
            .on_commit =
                [this, run](const Committed& commit) {
                  committed_.push_back(run);
                  segment_events_.push_back(commit.segment->events_count);
                },
            .on_failure = [](const Error& error) { ADD_FAILURE() << error.message(); }};
  }
  void pass(milliseconds time) {
    timers_.advance(time);
    io_.restart();
    io_.run();
  }
  // The same while something waits for the time to go on.
  void pass_while_waiting(milliseconds time) {
    timers_.advance(time);
    io_.restart();
    while (io_.poll() > 0) {
    }
  }
  // The runs that have committed since the last call.
  std::vector<int> committed() { return std::exchange(committed_, {}); }

  ManualClock clock_{kStart};
  MemoryStore store_{make_memory_store_data(), clock_};
  ManualTimers timers_;
  asio::io_context io_{1};
  TaskGroup tasks_{io_.get_executor(), fail_test};
  Counters counters_;
  std::vector<int> committed_;
  std::vector<int> segment_events_;  // how many each segment has that was committed
};

const Event kDelta = AssistantDelta{.text = "word"};
using Runs = std::vector<int>;
using Counts = std::vector<int>;
constexpr std::size_t kFull = 64UL * 1024;  // what a segment may have before text is split

// A delta whose line, as the first of a run, has so many bytes.
Event delta_of(std::size_t line_bytes) {
  std::string line;
  append_event_line(line, 1, AssistantDelta{});
  return AssistantDelta{.text = std::string(line_bytes - line.size(), 'x')};
}

TEST_F(RunLogTest, TextOfAllRunsGoesOutAtTheSameMoments) {
  RunLog first(deps(), options(1));
  RunLog second(deps(), options(2));
  first.emit_delta(kDelta);
  pass(RunLog::kDeltaWait / 2);
  second.emit_delta(kDelta);
  pass(RunLog::kNoWait);
  EXPECT_EQ(committed(), Runs());

  pass(RunLog::kDeltaWait / 2);
  EXPECT_EQ(committed(), (Runs{1, 2}));
}

TEST_F(RunLogTest, WhatWaitsForCompanyWaitsNoLongerThanItMay) {
  RunLog log(deps(), options(1));
  for (milliseconds begun{0}; begun < 3 * RunLog::kDeltaWait; begun += milliseconds(1)) {
    log.emit(kDelta, RunLog::kEchoWait);
    pass(RunLog::kEchoWait - RunLog::kDeltaWait);
    EXPECT_EQ(committed(), Runs());
    pass(RunLog::kDeltaWait);
    EXPECT_EQ(committed(), Runs{1});
    pass(milliseconds(1));
  }
}

TEST_F(RunLogTest, TextGoesOnInTheNextSegmentOnceOneIsFull) {
  RunLog log(deps(), options(1));
  log.emit_delta(delta_of(kFull));
  log.emit_delta(kDelta);
  log.emit_delta(kDelta);
  pass(RunLog::kDeltaWait);
  pass(RunLog::kDeltaWait);

  EXPECT_EQ(segment_events_, (Counts{1, 2}));
}

TEST_F(RunLogTest, TextIsKeptTogetherAsLongAsASegmentIsNotFull) {
  RunLog log(deps(), options(1));
  log.emit_delta(delta_of(kFull - 1));
  log.emit_delta(kDelta);
  log.emit_delta(kDelta);
  pass(RunLog::kDeltaWait);
  pass(RunLog::kDeltaWait);

  EXPECT_EQ(segment_events_, (Counts{2, 1}));
}

TEST_F(RunLogTest, WhatBelongsTogetherIsNotSplit) {
  RunLog log(deps(), options(1));
  log.emit(delta_of(kFull));
  log.emit(kDelta);
  pass(RunLog::kNoWait);

  EXPECT_EQ(segment_events_, Counts{2});
}

TEST_F(RunLogTest, WhatIsUrgentTakesAlongWhatWaits) {
  RunLog log(deps(), options(1));
  log.emit_delta(kDelta);
  log.emit(kDelta);
  pass(RunLog::kNoWait);

  EXPECT_EQ(committed(), Runs{1});
  EXPECT_EQ(log.last_seq(), 2);
  EXPECT_EQ(timers_.pending(), 0U);
}

TEST_F(RunLogTest, AWriterHasToWaitWhileTheStoreTakesNothing) {
  bool is_down = true;
  FaultyStore store(store_, [&is_down](FaultyStore::Operation) {
    return is_down ? FaultyStore::Fault::fail_before : FaultyStore::Fault::none;
  });
  RunLog log(deps(store), options(1));
  const Event large = AssistantDelta{.text = std::string(RunLog::kPendingBytesMax, 'x')};
  log.emit_delta(large);
  pass_while_waiting(RunLog::kDeltaWait);
  EXPECT_TRUE(log.has_room());
  log.emit_delta(large);
  pass_while_waiting(seconds(60));
  EXPECT_FALSE(log.has_room());
  EXPECT_EQ(committed(), Runs());

  is_down = false;
  pass_while_waiting(2 * RunLog::kRetries.max);
  pass_while_waiting(RunLog::kDeltaWait);

  EXPECT_TRUE(log.has_room());
  EXPECT_EQ(committed(), (Runs{1, 1}));
}

TEST_F(RunLogTest, ReadersInThisProcessGetStructsIfTheyAreAskedFor) {
  std::vector<std::string> lines;
  RunLog::Options asking = options(1);
  asking.typed_events = true;
  asking.on_commit = [&](const auto& commit) {
    for (const StampedEvent& event : commit.segment->typed) {
      append_event_line(lines.emplace_back(), event);
    }
    EXPECT_EQ(commit.segment->events, lines[0] + lines[1]);
  };
  RunLog::Options other = options(2);
  other.on_commit = [](const auto& commit) { EXPECT_TRUE(commit.segment->typed.empty()); };
  RunLog first(deps(), asking);
  RunLog second(deps(), other);
  for (RunLog* log : {&first, &second}) {
    log->emit(kDelta);
    log->emit(TurnRestarted{.turn = 1, .attempt = 2});
  }
  pass(RunLog::kNoWait);
  EXPECT_EQ(lines.size(), 2U);
}

}  // namespace
}  // namespace errand::agent::run_log_test
