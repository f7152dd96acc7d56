#pragma once

// The part of the contract about mail and about runs that change hands.

#include <algorithm>

#include "store/store_contract.hpp"

namespace errand {

using namespace store_contract;

inline std::vector<RunId> ids(const std::vector<ClaimedRun>& claimed) {
  std::vector<RunId> out;
  for (const ClaimedRun& run : claimed) out.push_back(run.row.id);
  return out;
}

// Creates run `number` and leaves it waiting with these slots open.
inline AppendItem waiting_item(int number, std::int64_t epoch, std::vector<std::string> slots) {
  AppendItem waiting = item(number, epoch, events_segment(1, 1, 1));
  waiting.status = RunStatus::waiting;
  for (auto& slot : slots) waiting.open.push_back(open_mailbox(number, slot));
  return waiting;
}

TEST_P(StoreContract, AnOpenMailboxIsFilledOnce) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_item(1, epoch, {"tu_a", "tu_b"})));
  const std::string body("{\"t\":\"\0ü\"}", 11);

  EXPECT_EQ(mail(answer(1, "tu_a", body)), MailOutcome::accepted);
  EXPECT_EQ(mail(answer(1, "tu_a", "late")), MailOutcome::unknown_slot);

  EXPECT_EQ(mailboxes(1),
            (std::vector{filled(open_mailbox(1, "tu_a"), body), open_mailbox(1, "tu_b")}));
}

TEST_P(StoreContract, TheFirstOfFiftyAnswersWins) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_item(1, epoch, {"tu_a"})));
  std::vector<Task<Result<MailOutcome>>> race;
  for (int i = 0; i < 50; ++i) race.push_back(store().mail(answer(1, "tu_a", cat("answer ", i))));

  auto results = wait_for_all(std::move(race));

  auto accepted = [](const auto& result) { return result.value() == MailOutcome::accepted; };
  ASSERT_EQ(std::count_if(results.begin(), results.end(), accepted), 1);
  auto winner = std::find_if(results.begin(), results.end(), accepted) - results.begin();
  EXPECT_EQ(mailboxes(1), std::vector{filled(open_mailbox(1, "tu_a"), cat("answer ", winner))});
}

TEST_P(StoreContract, MailThatNobodyWaitsForIsToldApart) {
  auto epoch = create(1);
  create(2);
  ASSERT_TRUE(append(waiting_item(1, epoch, {"tu_a"})));
  ASSERT_TRUE(append(last_item(2, epoch, events_segment(1, 1, 1))));
  Mail elsewhere = answer(1, "tu_a", "x");
  elsewhere.workspace = workspace("other");

  EXPECT_EQ(mail(answer(9, "tu_a", "x")), MailOutcome::unknown_run);
  EXPECT_EQ(mail(elsewhere), MailOutcome::unknown_run);
  EXPECT_EQ(mail(answer(2, "tu_a", "x")), MailOutcome::run_ended);
  EXPECT_EQ(mail(cancel_request(2)), MailOutcome::run_ended);
  EXPECT_EQ(mail(answer(1, "tu_z", "x")), MailOutcome::unknown_slot);
  EXPECT_EQ(mailboxes(1), std::vector{open_mailbox(1, "tu_a")});
}

TEST_P(StoreContract, ACancelRequestIsAcceptedOnce) {
  create(1);

  EXPECT_EQ(mail(cancel_request(1)), MailOutcome::accepted);
  EXPECT_EQ(mail(cancel_request(1)), MailOutcome::unknown_slot);

  Mailbox expected{.run = run_id(1),
                   .slot = "cancel",
                   .kind = MailKind::cancel,
                   .opened_at = from_millis(kStart),
                   .filled = true,
                   .body = "{}"};
  EXPECT_EQ(mailboxes(1), std::vector{expected});
}

TEST_P(StoreContract, ClosedMailboxesAreGoneAndTheOthersStay) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_item(1, epoch, {"tu_a", "tu_b"})));
  AppendItem folding = item(1, epoch, events_segment(2, 2, 1));
  folding.close = {"tu_a"};
  folding.open = {open_mailbox(1, "tu_c")};

  ASSERT_TRUE(append(folding));

  EXPECT_EQ(mailboxes(1), (std::vector{open_mailbox(1, "tu_b"), open_mailbox(1, "tu_c")}));
  EXPECT_EQ(mail(answer(1, "tu_a", "x")), MailOutcome::unknown_slot);
}

TEST_P(StoreContract, OpeningAMailboxAgainMovesItsDeadlineAndKeepsItsMail) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_item(1, epoch, {"tu_a"})));
  ASSERT_EQ(mail(answer(1, "tu_a", "kept")), MailOutcome::accepted);
  Mailbox later = open_mailbox(1, "tu_a");
  later.deadline += seconds(7);
  AppendItem again = item(1, epoch, events_segment(2, 2, 1));
  again.open = {later};

  ASSERT_TRUE(append(again));

  EXPECT_EQ(mailboxes(1), std::vector{filled(later, "kept")});
}

TEST_P(StoreContract, ARefusedAppendLeavesTheMailAlone) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_item(1, epoch, {"tu_a"})));
  AppendItem stale = item(1, epoch - 1, events_segment(2, 2, 1));
  stale.close = {"tu_a"};
  stale.open = {open_mailbox(1, "tu_b")};

  ASSERT_FALSE(append(stale));

  EXPECT_EQ(mailboxes(1), std::vector{open_mailbox(1, "tu_a")});
}

TEST_P(StoreContract, TheEndOfARunRemovesItsMailboxesOnly) {
  auto epoch = create(1);
  create(2);
  ASSERT_TRUE(append(waiting_item(1, epoch, {"tu_a", "tu_b"})));
  ASSERT_TRUE(append(waiting_item(2, epoch, {"tu_a"})));
  ASSERT_EQ(mail(cancel_request(1)), MailOutcome::accepted);

  ASSERT_TRUE(append(last_item(1, epoch, events_segment(2, 2, 1))));

  EXPECT_EQ(mailboxes(1), std::vector<Mailbox>());
  EXPECT_EQ(mailboxes(2), std::vector{open_mailbox(2, "tu_a")});
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
  ASSERT_TRUE(append(last_item(2, epoch, events_segment(1, 1, 1))));

  reopen();

  EXPECT_EQ(ids(claim(2)), (std::vector{run_id(1), run_id(3)}));
  EXPECT_EQ(ids(claim(2)), std::vector{run_id(4)});
  EXPECT_EQ(ids(claim(2)), std::vector<RunId>());
}

TEST_P(StoreContract, AClaimedRunComesWithItsNewEpochAndItsMail) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_item(1, epoch, {"tu_a", "tu_b"})));
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

  auto refused = append(item(1, former, events_segment(1, 1, 1)));
  auto accepted = append(item(1, current, events_segment(1, 1, 1)));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  EXPECT_TRUE(accepted);
}

TEST_P(StoreContract, AReleasedRunCanBeClaimedAgain) {
  auto epoch = create(1);

  ASSERT_TRUE(wait_for(store().release(run_id(1), epoch)));

  EXPECT_FALSE(append(item(1, epoch, events_segment(1, 1, 1))));
  EXPECT_EQ(ids(claim(10)), std::vector{run_id(1)});
}

TEST_P(StoreContract, OnlyTheOwnerReleases) {
  auto epoch = create(1);

  auto stale = wait_for(store().release(run_id(1), epoch - 1));
  auto unknown = wait_for(store().release(run_id(2), epoch));

  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code(), ErrorCode::conflict);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code(), ErrorCode::conflict);
  EXPECT_EQ(find(1).epoch, epoch);
}

TEST_P(StoreContract, RenewBringsNoMailOnOneNode) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_item(1, epoch, {"tu_a"})));
  ASSERT_EQ(mail(answer(1, "tu_a", "x")), MailOutcome::accepted);

  EXPECT_EQ(wait_for(store().renew()).value().mail, std::vector<Mailbox>());
}

}  // namespace errand
