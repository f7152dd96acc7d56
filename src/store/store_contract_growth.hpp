#pragma once

// The part of the contract about removing what is old, and about looking through everything.

#include "store/store_contract.hpp"

namespace errand {

using namespace store_contract;

// Removes everything it may, step by step, and says how many runs went.
inline std::size_t prune_all(Store& store, const Prune& prune) {
  std::size_t runs = 0;
  for (;;) {
    PruneOutcome outcome = wait_for(store.prune(prune)).value();
    runs += outcome.runs;
    if (outcome.is_done) return runs;
  }
}

// An ended run whose last segment is of this time.
inline Segment last_segment(std::int32_t n, EventSeq seq, WallTime at) {
  Segment segment = events_segment(n, seq, 1);
  segment.at = at;
  return segment;
}

TEST_P(StoreContract, RunsThatEndedLongAgoAreRemovedWithEverythingOfTheirs) {
  auto epoch = create(1);
  create(2);
  create(3);
  create(4);
  ASSERT_TRUE(append(last_item(1, epoch, last_segment(1, 1, from_millis(10'000)))));
  ASSERT_TRUE(append(last_item(2, epoch, last_segment(1, 1, from_millis(20'000)))));
  ASSERT_TRUE(append(last_item(3, epoch, last_segment(1, 1, from_millis(10'000)))));

  auto removed = prune_all(
      store(), {.ended_before = from_millis(20'000), .spared = {run_id(3)}, .segments_max = 100});

  EXPECT_EQ(removed, 1U);
  EXPECT_FALSE(wait_for(store().find(workspace(), run_id(1))));
  EXPECT_EQ(log(1, 0, 1 << 20), std::vector<Segment>());
  EXPECT_TRUE(wait_for(store().find(workspace(), run_id(2)))) << "too young";
  EXPECT_TRUE(wait_for(store().find(workspace(), run_id(3)))) << "spared";
  EXPECT_TRUE(wait_for(store().find(workspace(), run_id(4)))) << "unfinished";
  EXPECT_EQ(events(3, 0, 1 << 20).size(), 1U);
}

TEST_P(StoreContract, ARunIsRemovedInSmallStepsThatAnotherProcessMayFinish) {
  auto epoch = create(1);
  for (int n = 1; n < 30; ++n) ASSERT_TRUE(append(item(1, epoch, events_segment(n, n, 1))));
  ASSERT_TRUE(append(last_item(1, epoch, last_segment(30, 30, from_millis(10'000)))));
  create(2);
  ASSERT_TRUE(append(last_item(2, epoch, last_segment(1, 1, from_millis(10'000)))));
  const Prune step{.ended_before = from_millis(20'000), .segments_max = 10};

  PruneOutcome first = wait_for(store().prune(step)).value();
  reopen();
  prune_all(store(), step);

  EXPECT_FALSE(first.is_done);
  EXPECT_EQ(log(1, 0, 1 << 20), std::vector<Segment>());
  EXPECT_FALSE(wait_for(store().find(workspace(), run_id(2))));
}

TEST_P(StoreContract, NothingIsRemovedThatIsYoung) {
  create(1);

  PruneOutcome outcome = wait_for(store().prune({.segments_max = 10})).value();

  EXPECT_EQ(outcome.runs, 0U);
  EXPECT_TRUE(outcome.is_done);
}

TEST_P(StoreContract, AllRunsAreSeenInPages) {
  create(2);
  create(3);
  NewRun elsewhere = new_run(1);
  elsewhere.row.workspace = workspace("other");
  ASSERT_TRUE(wait_for(store().create(elsewhere)));
  auto page = [this](std::optional<RunCursor> after) {
    std::vector<RunId> out;
    for (const RunRow& row : wait_for(store().all_runs(std::move(after), 2)).value()) {
      out.push_back(row.id);
    }
    return out;
  };

  EXPECT_EQ(page({}), (std::vector{run_id(2), run_id(3)}));
  EXPECT_EQ(page(RunCursor{workspace(), run_id(3)}), std::vector{run_id(1)});
  EXPECT_EQ(page(RunCursor{workspace("other"), run_id(1)}), std::vector<RunId>());
}

}  // namespace errand
