#pragma once

// The part of the contract about many nodes on one store. A store for one process has no use for
// it: there, every opening is a new owner of everything.

#include "store/store_contract_session_setup.hpp"

namespace errand {

using namespace store_contract;

// Two nodes that share a store, and its clock.
class Fleet {
 public:
  static constexpr milliseconds kLease{15'000};

  virtual ~Fleet() = default;
  virtual Store& first() = 0;
  virtual Store& second() = 0;
  virtual ManualClock& clock() = 0;
};
using MakeFleet = std::unique_ptr<Fleet> (*)();

class StoreLeaseContract : public testing::TestWithParam<MakeFleet> {
 protected:
  StoreLeaseContract() {
    EXPECT_EQ(wait_for(first().renew()).value().lease_left, Fleet::kLease);
    EXPECT_EQ(wait_for(second().renew()).value().lease_left, Fleet::kLease);
  }

  Store& first() { return fleet_->first(); }
  Store& second() { return fleet_->second(); }
  ManualClock& clock() { return fleet_->clock(); }
  std::size_t claimed_by(Store& node) {
    return wait_for(node.claim({.limit = 10})).value().runs.size();
  }

  std::unique_ptr<Fleet> fleet_ = GetParam()();
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreLeaseContract);

TEST_P(StoreLeaseContract, EveryNodeHasItsOwnEpochAndAllHaveOneClock) {
  EXPECT_NE(first().epoch(), second().epoch());
  EXPECT_EQ(first().now(), second().now());
}

TEST_P(StoreLeaseContract, ARunIsClaimedOnlyOnceItsOwnersLeaseHasRunOut) {
  ASSERT_TRUE(wait_for(first().create(new_run(1))));
  clock().pass(Fleet::kLease - milliseconds(1));
  ASSERT_TRUE(wait_for(second().renew()));

  EXPECT_EQ(claimed_by(second()), 0U);
  clock().pass(milliseconds(1));
  EXPECT_EQ(claimed_by(second()), 1U);
  EXPECT_EQ(claimed_by(second()), 0U);
}

TEST_P(StoreLeaseContract, AnOwnerThatRenewsKeepsItsRuns) {
  ASSERT_TRUE(wait_for(first().create(new_run(1))));
  for (int i = 0; i < 10; ++i) {
    clock().pass(Fleet::kLease / 2);
    ASSERT_TRUE(wait_for(first().renew()));
    ASSERT_TRUE(wait_for(second().renew()));
    EXPECT_EQ(claimed_by(second()), 0U);
  }
}

TEST_P(StoreLeaseContract, AnOwnerThatWasAwayAppendsAsLongAsNobodyHasClaimed) {
  auto epoch = wait_for(first().create(new_run(1))).value().epoch;
  clock().pass(Fleet::kLease * 3);

  EXPECT_TRUE(is_appended(wait_for(first().append(commit_of(1, epoch, events_segment(1, 1, 1))))));
  ASSERT_TRUE(wait_for(second().renew()));
  ASSERT_EQ(claimed_by(second()), 1U);
  auto refused = wait_for(first().append(commit_of(1, epoch, events_segment(2, 2, 1))));

  EXPECT_EQ(refused.value().refused, CommitRefusal::stale_epoch);
  EXPECT_EQ(claimed_by(first()), 0U) << "its new owner's lease is in force";
}

TEST_P(StoreLeaseContract, MailThatAnotherNodeWroteComesOnceWithARenewal) {
  auto epoch = wait_for(first().create(new_run(1))).value().epoch;
  Commit waiting = commit_of(1, epoch, events_segment(1, 1, 1));
  waiting.effects.open = {open_mailbox(1, "tu_a"), open_mailbox(1, "tu_b")};
  ASSERT_TRUE(is_appended(wait_for(first().append(waiting))));

  ASSERT_TRUE(wait_for(first().mail(answer(1, "tu_a", "its own"))));
  ASSERT_TRUE(wait_for(second().mail(answer(1, "tu_b", "another's"))));

  EXPECT_EQ(wait_for(first().renew()).value().mail,
            std::vector{filled(open_mailbox(1, "tu_b"), "another's")});
  EXPECT_EQ(wait_for(first().renew()).value().mail, std::vector<Mailbox>());
  EXPECT_EQ(wait_for(second().renew()).value().mail, std::vector<Mailbox>());
}

TEST_P(StoreLeaseContract, AReleasedRunIsAnyonesAtOnce) {
  auto epoch = wait_for(first().create(new_run(1))).value().epoch;

  ASSERT_TRUE(wait_for(first().release(run_key(1), epoch)));

  EXPECT_EQ(claimed_by(second()), 1U);
}

TEST_P(StoreLeaseContract, TheRunsOfANodeThatHasLeftAreAnyonesAtOnce) {
  ASSERT_TRUE(wait_for(first().create(new_run(1))));

  ASSERT_TRUE(wait_for(first().leave()));
  auto claimed = wait_for(second().claim({.limit = 10})).value().runs;

  ASSERT_EQ(claimed.size(), 1U);
  EXPECT_TRUE(claimed[0].was_left);
}

TEST_P(StoreLeaseContract, TheOwnerOfAnInterruptedRunLearnsOfItWithARenewal) {
  start_session(first(), 1);

  ASSERT_EQ(create_told(second(), session_run(2, WhenBusy::interrupt)),
            "waits, interrupts run_1001");
  auto ended = wait_for(first().end_session(session_key(1), "over")).value();

  EXPECT_EQ(ended.cancelled, (std::vector{run_id(1), run_id(2)}));
  EXPECT_EQ(wait_for(first().renew()).value().mail, std::vector{cancel_box(1, "make way for 2")});
  EXPECT_EQ(wait_for(second().renew()).value().mail, std::vector{cancel_box(2, "over")});
}

TEST_P(StoreLeaseContract, ARunThatGetsTheTurnMovesToTheNodeThatGivesIt) {
  start_session(first(), 1);
  ASSERT_EQ(create_told(second(), session_run(2)), "waits");

  ASSERT_EQ(end_run(first(), 1), run_id(2));

  EXPECT_EQ(wait_for(first().find(run_key(2))).value().epoch, first().epoch());
  Commit late = commit_of(2, second().epoch(), events_segment(1, 1, 1));
  EXPECT_EQ(wait_for(second().append(late)).value().refused, CommitRefusal::stale_epoch);
}

}  // namespace errand
