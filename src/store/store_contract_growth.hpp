#pragma once

// The part of the contract about removing old rows, and about looking through everything.

#include "store/store_contract.hpp"

namespace errand {

using namespace store_contract;

// Removes everything it may, step by step, and says how many runs went.
inline std::size_t prune_all(Store& store, Prune prune) {
  std::size_t runs = 0;
  for (;;) {
    PruneOutcome outcome = wait_for(store.prune(prune)).value();
    runs += outcome.runs;
    if (outcome.is_done) return runs;
    prune.after = outcome.seen;
  }
}

TEST_P(StoreContract, RunsThatEndedLongAgoAreRemovedWithEverythingOfTheirs) {
  auto epoch = create(1);
  for (int number = 2; number <= 4; ++number) create(number);
  ASSERT_TRUE(append(last_commit(1, epoch, events_segment(1, 1, 1))));
  ASSERT_TRUE(append(last_commit(3, epoch, events_segment(1, 1, 1))));
  clock().pass(seconds(10));
  ASSERT_TRUE(append(last_commit(2, epoch, events_segment(1, 1, 1))));

  auto removed = prune_all(
      store(), {.ended_before = store().now(), .spared = {run_id(3)}, .segments_max = 100});

  EXPECT_EQ(removed, 1U);
  EXPECT_FALSE(exists(1));
  EXPECT_EQ(log(1, -1, 1 << 20), std::vector<Segment>());
  EXPECT_TRUE(exists(2)) << "too young";
  EXPECT_TRUE(exists(3)) << "spared";
  EXPECT_TRUE(exists(4)) << "unfinished";
  EXPECT_EQ(events(3, 0, 1 << 20).size(), 1U);
}

TEST_P(StoreContract, TheOrderOfTheirEndsDecidesWhichRunsAreRemoved) {
  auto epoch = create(1);
  create(2);
  ASSERT_TRUE(append(last_commit(2, epoch, events_segment(1, 1, 1))));
  clock().pass(seconds(10));
  ASSERT_TRUE(append(last_commit(1, epoch, events_segment(1, 1, 1))));

  EXPECT_EQ(prune_all(store(), {.ended_before = store().now(), .segments_max = 100}), 1U);

  EXPECT_TRUE(exists(1));
  EXPECT_FALSE(exists(2));
}

// A run that stays counts as a segment, so that a step is short however many stay.
TEST_P(StoreContract, RetentionGoesOnBehindTheRunsThatStay) {
  for (int number = 1; number <= 4; ++number) {
    ASSERT_TRUE(append(last_commit(number, create(number), events_segment(1, 1, 1))));
    clock().pass(seconds(1));
  }
  Prune step = everything_ended(store(), 2);
  step.spared = {run_id(1), run_id(2)};

  PruneOutcome first = wait_for(store().prune(step)).value();
  EXPECT_EQ(first.runs, 0U);
  EXPECT_FALSE(first.is_done);
  step.after = first.seen;
  step.spared = {};

  EXPECT_EQ(prune_all(store(), step), 2U);
  EXPECT_TRUE(exists(1)) << "before the place";
  EXPECT_TRUE(exists(2)) << "at the place";
  EXPECT_FALSE(exists(3));
  EXPECT_FALSE(exists(4));
  step.after = {};
  EXPECT_EQ(prune_all(store(), step), 2U) << "the next pass begins at the first run";
}

TEST_P(StoreContract, RetentionSaysHowFarItHasLooked) {
  for (int number = 1; number <= 3; ++number) {
    ASSERT_TRUE(append(last_commit(number, create(number), events_segment(1, 1, 1))));
    clock().pass(seconds(1));
  }
  Prune step = everything_ended(store(), 100);
  step.spared = {run_id(3)};

  PruneOutcome outcome = wait_for(store().prune(step)).value();

  EXPECT_EQ(outcome.runs, 2U);
  ASSERT_TRUE(outcome.seen);
  EXPECT_EQ(outcome.seen->run, run_key(3)) << "a run that stays is looked at, too";
}

TEST_P(StoreContract, ARunIsRemovedInSmallStepsThatAnotherProcessMayFinish) {
  auto epoch = create(1);
  for (int n = 1; n < 30; ++n) ASSERT_TRUE(append(commit_of(1, epoch, events_segment(n, n, 1))));
  ASSERT_TRUE(append(last_commit(1, epoch, events_segment(30, 30, 1))));
  create(2);
  ASSERT_TRUE(append(last_commit(2, epoch, events_segment(1, 1, 1))));

  PruneOutcome first = wait_for(store().prune(everything_ended(store(), 10))).value();
  reopen();
  prune_all(store(), everything_ended(store(), 10));

  EXPECT_FALSE(first.is_done);
  EXPECT_EQ(log(1, -1, 1 << 20), std::vector<Segment>());
  EXPECT_FALSE(exists(2));
}

TEST_P(StoreContract, ARunOfANewerFormatIsNotRemoved) {
  NewRun ended = newer_run(1);
  ended.row.status = RunStatus::succeeded;
  ASSERT_TRUE(wait_for(store().create(ended)));

  EXPECT_EQ(prune_all(store(), everything_ended(store(), 100)), 0U);

  EXPECT_TRUE(exists(1));
}

// What readers see of a log, however it is cut into segments.
inline std::string text_of_events(const std::vector<Segment>& segments) {
  std::string text;
  for (const Segment& segment : segments) text += segment.events;
  return text;
}

TEST_P(StoreContract, PruningLeavesTheEventsAndTheJournalOfAnEndedRunAsTheyAre) {
  auto epoch = create(1);
  for (int n = 1; n < 200; ++n) ASSERT_TRUE(append(commit_of(1, epoch, events_segment(n, n, 1))));
  ASSERT_TRUE(append(last_commit(1, epoch, events_segment(200, 200, 1))));
  const std::string all_events = text_of_events(events(1, 0, 1 << 20));
  const std::string all_journal = journal(1);
  RunRow expected = find(1);
  clock().pass(std::chrono::hours(1));

  do {
    EXPECT_EQ(text_of_events(events(1, 0, 1 << 20)), all_events);
    EXPECT_EQ(journal(1), all_journal);
  } while (!wait_for(store().prune({.segments_max = 10})).value().is_done);

  EXPECT_EQ(text_of_events(events(1, 0, 1 << 20)), all_events);
  EXPECT_EQ(journal(1), all_journal);
  expected.segments = static_cast<std::int32_t>(log(1, -1, 1 << 20).size());
  EXPECT_EQ(find(1), expected);
  EXPECT_EQ(events(1, 100, 1 << 20).front().first_seq() <= 101, true);
  EXPECT_EQ(events(1, 200, 1 << 20), std::vector<Segment>());
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
  ASSERT_TRUE(wait_for(store().create(new_run_in("other", 1))));
  auto page = [this](std::optional<RunKey> after) {
    std::vector<RunId> out;
    for (const RunRow& row : wait_for(store().all_runs(std::move(after), 2)).value()) {
      out.push_back(row.id);
    }
    return out;
  };

  EXPECT_EQ(page({}), (std::vector{run_id(2), run_id(3)}));
  EXPECT_EQ(page(run_key(3)), std::vector{run_id(1)});
  EXPECT_EQ(page(run_key(1, "other")), std::vector<RunId>());
}

}  // namespace errand
