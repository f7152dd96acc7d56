#pragma once

// The part of the contract about runs that change hands.

#include "store/store_contract_mail.hpp"

namespace errand {

using namespace store_contract;

inline std::vector<RunId> ids(const std::vector<ClaimedRun>& claimed) {
  std::vector<RunId> out;
  for (const ClaimedRun& run : claimed) out.push_back(run.row.id);
  return out;
}

inline std::vector<bool> left(const std::vector<ClaimedRun>& claimed) {
  std::vector<bool> out;
  for (const ClaimedRun& run : claimed) out.push_back(run.was_left);
  return out;
}

TEST_P(StoreContract, NothingIsClaimedThatThisProcessOwns) {
  create(1);

  EXPECT_EQ(ids(claim(10)), std::vector<RunId>());
}

TEST_P(StoreContract, TheUnfinishedRunsOfAFormerProcessAreClaimedOldestFirst) {
  auto epoch = create(3);
  create(1);
  create(2);
  create(4);
  ASSERT_TRUE(append(last_commit(2, epoch, events_segment(1, 1, 1))));

  reopen();

  EXPECT_EQ(ids(claim(2)), (std::vector{run_id(1), run_id(3)}));
  EXPECT_EQ(ids(claim(2)), std::vector{run_id(4)});
  EXPECT_EQ(ids(claim(2)), std::vector<RunId>());
}

TEST_P(StoreContract, RunsAreClaimedPageByPageInTheOrderOfWorkspaceAndId) {
  for (int number : {2, 4, 3}) create(number);
  for (int number : {5, 1}) ASSERT_TRUE(wait_for(store().create(new_run_in("another", number))));
  reopen();

  ClaimedRuns first = claim_page({.limit = 2});
  ClaimedRuns second = claim_page({.limit = 2, .after = first.next});
  ClaimedRuns third = claim_page({.limit = 2, .after = second.next});

  EXPECT_EQ(first.found, 5U);
  EXPECT_EQ(ids(first.runs), (std::vector{run_id(1), run_id(5)}));
  EXPECT_EQ(first.next, run_key(5, "another"));
  EXPECT_EQ(ids(second.runs), (std::vector{run_id(2), run_id(3)}));
  EXPECT_EQ(second.next, run_key(3));
  EXPECT_EQ(ids(third.runs), std::vector{run_id(4)});
  EXPECT_EQ(third.next, std::nullopt);
}

TEST_P(StoreContract, APageThatHasTheLastRunHasNoNextOne) {
  create(1);
  create(2);
  reopen();

  ClaimedRuns page = claim_page({.limit = 2});
  EXPECT_EQ(page.next, std::nullopt);
  EXPECT_EQ(page.found, 2U);
  EXPECT_EQ(claim_page({.limit = 2}).found, 0U);
}

TEST_P(StoreContract, OneRunIsClaimedAloneIfItIsToBeHad) {
  for (int number = 1; number <= 3; ++number) create(number);
  reopen();

  ClaimedRuns claimed = claim_page({.limit = 1, .only = run_key(2)});
  EXPECT_EQ(ids(claimed.runs), std::vector{run_id(2)});
  EXPECT_EQ(claimed.runs.at(0).row.epoch, find(2).epoch);
  EXPECT_EQ(claimed.next, std::nullopt);
  EXPECT_EQ(ids(claim_page({.limit = 1, .only = run_key(2)}).runs), std::vector<RunId>());
  EXPECT_EQ(ids(claim_page({.limit = 1, .only = run_key(3, "another")}).runs),
            std::vector<RunId>());
  EXPECT_EQ(ids(claim(10)), (std::vector{run_id(1), run_id(3)}));
}

TEST_P(StoreContract, RunsUpToTheCursorAreLeftToOthers) {
  for (int number = 1; number <= 3; ++number) create(number);
  reopen();

  EXPECT_EQ(ids(claim_page({.limit = 10, .after = run_key(2)}).runs), std::vector{run_id(3)});
  EXPECT_EQ(ids(claim_page({.limit = 10, .after = run_key(3)}).runs), std::vector<RunId>());
  EXPECT_EQ(ids(claim(10)), (std::vector{run_id(1), run_id(2)}));
}

TEST_P(StoreContract, RunsOfANewerFormatAreNotClaimed) {
  create(1);
  auto epoch = wait_for(store().create(newer_run(2))).value().epoch;
  create(3);
  reopen();

  EXPECT_EQ(ids(claim(10)), (std::vector{run_id(1), run_id(3)}));
  EXPECT_EQ(find(2).epoch, epoch);
  EXPECT_EQ(find(2).format, kRunFormat + 1);
}

TEST_P(StoreContract, WhoeverClaimsLearnsWhetherTheFormerOwnerHasLeft) {
  create(1);
  reopen();
  EXPECT_EQ(left(claim(10)), std::vector{false});
  create(2);
  ASSERT_TRUE(wait_for(store().leave()));
  reopen();

  EXPECT_EQ(left(claim(10)), (std::vector{true, true}));
}

TEST_P(StoreContract, ARunThatNobodyClaimedWasLeftByWhoOwnedItLast) {
  create(1);
  create(2);
  ASSERT_TRUE(wait_for(store().leave()));
  reopen();
  ASSERT_EQ(ids(claim(1)), std::vector{run_id(1)});
  reopen();

  EXPECT_EQ(left(claim(10)), (std::vector{false, true}));
}

TEST_P(StoreContract, AClaimedRunComesWithItsNewEpochAndItsMail) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a", "tu_b"})));
  ASSERT_EQ(mail(answer(1, "tu_b", "done")), MailOutcome::accepted);
  RunRow expected = find(1);

  reopen();
  auto claimed = claim(10);

  ASSERT_EQ(claimed.size(), 1U);
  expected.epoch = claimed[0].row.epoch;
  EXPECT_GT(claimed[0].row.epoch, epoch);
  EXPECT_EQ(claimed[0].row, expected);
  EXPECT_EQ(claimed[0].mail,
            (std::vector{open_mailbox(1, "tu_a"), filled(open_mailbox(1, "tu_b"), "done")}));
  EXPECT_EQ(find(1), expected);
}

TEST_P(StoreContract, TheFormerOwnerCannotAppendAfterAClaim) {
  auto former = create(1);
  reopen();
  auto current = claim(10).at(0).row.epoch;

  EXPECT_EQ(refusal(commit_of(1, former, events_segment(1, 1, 1))), CommitRefusal::stale_epoch);
  EXPECT_TRUE(append(commit_of(1, current, events_segment(1, 1, 1))));
}

TEST_P(StoreContract, AReleasedRunCanBeClaimedAgain) {
  auto epoch = create(1);

  ASSERT_TRUE(wait_for(store().release(run_key(1), epoch)));

  EXPECT_EQ(refusal(commit_of(1, epoch, events_segment(1, 1, 1))), CommitRefusal::stale_epoch);
  auto claimed = claim(10);
  EXPECT_EQ(ids(claimed), std::vector{run_id(1)});
  EXPECT_EQ(left(claimed), std::vector{true}) << "its owner gave it up on purpose";
}

TEST_P(StoreContract, OnlyTheOwnerReleases) {
  auto epoch = create(1);

  auto stale = wait_for(store().release(run_key(1), epoch - 1));
  auto unknown = wait_for(store().release(run_key(2), epoch));

  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code(), ErrorCode::conflict);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code(), ErrorCode::conflict);
  EXPECT_EQ(find(1).epoch, epoch);
}

TEST_P(StoreContract, ARunThatHasEndedIsNotReleased) {
  auto epoch = create(1);
  ASSERT_TRUE(append(last_commit(1, epoch, events_segment(1, 1, 1))));

  EXPECT_EQ(wait_for(store().release(run_key(1), epoch)).error().code(), ErrorCode::conflict);
}

TEST_P(StoreContract, RenewBringsNoMailOnOneNode) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a"})));
  ASSERT_EQ(mail(answer(1, "tu_a", "x")), MailOutcome::accepted);

  EXPECT_EQ(wait_for(store().renew()).value().mail, std::vector<Mailbox>());
}

}  // namespace errand
