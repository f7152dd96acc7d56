#pragma once

// The part of the contract about the store's own clock, by which everything is measured.

#include "store/store_contract_growth.hpp"
#include "store/store_contract_mail.hpp"

namespace errand {

using namespace store_contract;
using std::chrono::hours;

TEST_P(StoreContract, AKeyIsAsNewAfterADay) {
  ASSERT_TRUE(wait_for(store().create(keyed_run(1, "key", "one"))));
  clock().pass(kIdempotencyKept - milliseconds(1));
  EXPECT_EQ(wait_for(store().create(keyed_run(2, "key", "two"))).value().kind, Creation::conflict);

  clock().pass(milliseconds(1));
  CreateOutcome later = wait_for(store().create(keyed_run(2, "key", "two"))).value();
  CreateOutcome again = wait_for(store().create(keyed_run(3, "key", "two"))).value();

  EXPECT_EQ(later.kind, Creation::created);
  EXPECT_EQ(again.kind, Creation::existing);
  EXPECT_EQ(again.run, run_id(2));
}

TEST_P(StoreContract, AKeyIsKnownThoughTheClockOnTheWallJumps) {
  ASSERT_TRUE(wait_for(store().create(keyed_run(1, "key", "same"))));

  clock().jump(hours(48));
  EXPECT_EQ(wait_for(store().create(keyed_run(2, "key", "same"))).value().run, run_id(1));
  clock().jump(-hours(96));
  EXPECT_EQ(wait_for(store().create(keyed_run(2, "key", "same"))).value().run, run_id(1));
  clock().pass(kIdempotencyKept);
  EXPECT_EQ(wait_for(store().create(keyed_run(2, "key", "same"))).value().kind, Creation::created);
}

TEST_P(StoreContract, AKeyIsKnownAfterDaysWithoutAServer) {
  ASSERT_TRUE(wait_for(store().create(keyed_run(1, "key", "same"))));
  close();
  clock().pass(hours(48));
  reopen();

  EXPECT_EQ(wait_for(store().create(keyed_run(2, "key", "same"))).value().run, run_id(1));
}

TEST_P(StoreContract, TheTimeSinceAnEndCountsOnlyWhileTheStoreIsServed) {
  auto epoch = create(1);
  ASSERT_TRUE(append(last_commit(1, epoch, events_segment(1, 1, 1))));
  auto prune_older_than_an_hour = [this] {
    return prune_all(store(), {.ended_before = store().now() - hours(1), .segments_max = 100});
  };
  clock().jump(hours(48));
  EXPECT_EQ(prune_older_than_an_hour(), 0U);
  ASSERT_TRUE(wait_for(store().renew()));
  close();
  clock().pass(hours(48));
  reopen();
  EXPECT_EQ(prune_older_than_an_hour(), 0U);

  clock().pass(hours(1) + milliseconds(1));
  EXPECT_EQ(prune_older_than_an_hour(), 1U);
}

TEST_P(StoreContract, TheTimeOfARunIsAPointOnTheStoresClock) {
  NewRun run = new_run(1);
  run.row.ends_by = store().now() + hours(2);
  ASSERT_TRUE(wait_for(store().create(run)));
  clock().jump(hours(48));
  ASSERT_TRUE(wait_for(store().renew()));
  close();
  clock().pass(hours(48));
  reopen();

  EXPECT_EQ(find(1).ends_by - store().now(), hours(2));
  EXPECT_EQ(claim(10).at(0).row.ends_by - store().now(), hours(2));
}

TEST_P(StoreContract, TimeGoesOnOnlyWhileTheStoreIsServed) {
  StoreTime start = store().now();
  clock().pass(seconds(10));
  clock().jump(hours(1));
  EXPECT_EQ(store().now(), start + seconds(10));
  ASSERT_TRUE(wait_for(store().renew()));

  clock().jump(-hours(2));
  clock().pass(hours(5));
  reopen();

  EXPECT_GE(store().now(), start + seconds(10));
  EXPECT_LT(store().now(), start + hours(6));
}

TEST_P(StoreContract, TimeThatNobodyServedTheStoreIsNotCounted) {
  ASSERT_TRUE(wait_for(store().renew()));
  StoreTime end = store().now();
  close();

  clock().pass(hours(5));
  reopen();

  EXPECT_EQ(store().now(), end);
}

TEST_P(StoreContract, AProcessThatLeavesLetsItsTimeBeKnown) {
  clock().pass(seconds(10));
  ASSERT_TRUE(wait_for(store().leave()));
  StoreTime end = store().now();
  reopen();

  EXPECT_EQ(store().now(), end);
}

}  // namespace errand
