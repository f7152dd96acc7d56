#include "agent/run_log.hpp"

#include <boost/asio/io_context.hpp>

#include "store/memory/memory_store.hpp"
#include "store/store_contract.hpp"

namespace errand::agent {
namespace {

using namespace store_contract;

// Two runs with their logs, in time that the test moves.
class RunLogTest : public testing::Test {
 protected:
  RunLogTest() {
    EXPECT_TRUE(wait_for(store_.create(new_run(1))));
    EXPECT_TRUE(wait_for(store_.create(new_run(2))));
  }
  RunLog::Deps deps() { return {store_, clock_, timers_, tasks_, io_.get_executor(), counters_}; }
  RunLog::Options options(int run) {
    return {.workspace = workspace(),
            .run = run_id(run),
            .epoch = store_.epoch(),
            .segments = 1,
            .on_commit = [this, run](const Commit&) { committed_.push_back(run); },
            .on_failure = [](const Error& error) { ADD_FAILURE() << error.message(); }};
  }
  void pass(milliseconds time) {
    timers_.advance(time);
    io_.restart();
    io_.run();
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
};

const Event kDelta = AssistantDelta{.text = "word"};
using Runs = std::vector<int>;

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

TEST_F(RunLogTest, WhatIsUrgentTakesAlongWhatWaits) {
  RunLog log(deps(), options(1));
  log.emit_delta(kDelta);
  log.emit(kDelta);
  pass(RunLog::kNoWait);

  EXPECT_EQ(committed(), Runs{1});
  EXPECT_EQ(log.last_seq(), 2);
  EXPECT_EQ(timers_.pending(), 0U);
}

}  // namespace
}  // namespace errand::agent
