#pragma once

// The part of the contract about mail.

#include <algorithm>

#include "store/store_contract.hpp"

namespace errand {

using namespace store_contract;

// Leaves run `number` waiting with these slots open.
inline Commit waiting_commit(int number, std::int64_t epoch, std::vector<std::string> slots) {
  Commit waiting = commit_of(number, epoch, events_segment(1, 1, 1));
  waiting.status = RunStatus::waiting;
  for (auto& slot : slots) waiting.effects.open.push_back(open_mailbox(number, slot));
  return waiting;
}

// What a request leaves.
inline Mailbox request_box(int number, MailKind kind, std::string slot) {
  return {.run = run_id(number),
          .slot = std::move(slot),
          .kind = kind,
          .opened_at = from_millis(kStart),
          .filled = true,
          .body = "{}"};
}

// What the owner of a run says itself because it gives up waiting.
inline Mail owners_answer(int number, std::string slot, std::int64_t epoch) {
  Mail mail = answer(number, std::move(slot), "timed out");
  mail.owner_epoch = epoch;
  return mail;
}

TEST_P(StoreContract, AnOpenMailboxIsFilledOnce) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a", "tu_b"})));
  const std::string body("{\"t\":\"\0ü\"}", 11);

  EXPECT_EQ(mail(answer(1, "tu_a", body)), MailOutcome::accepted);
  EXPECT_EQ(mail(answer(1, "tu_a", "late")), MailOutcome::unknown_slot);

  EXPECT_EQ(mailboxes(1),
            (std::vector{filled(open_mailbox(1, "tu_a"), body), open_mailbox(1, "tu_b")}));
}

TEST_P(StoreContract, TheFirstOfFiftyAnswersWins) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a"})));
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
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a"})));
  ASSERT_TRUE(append(last_commit(2, epoch, events_segment(1, 1, 1))));
  Mail elsewhere = answer(1, "tu_a", "x");
  elsewhere.to = run_key(1, "other");

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

  EXPECT_EQ(mailboxes(1), std::vector{request_box(1, MailKind::cancel, "cancel")});
}

TEST_P(StoreContract, RequestsOfEveryKindNeedNoOpenMailboxAndAreAcceptedOncePerSlot) {
  create(1);

  EXPECT_EQ(mail(request(1, MailKind::progress, "p_1")), MailOutcome::accepted);
  EXPECT_EQ(mail(request(1, MailKind::progress, "p_2")), MailOutcome::accepted);
  EXPECT_EQ(mail(request(1, MailKind::cancel, "cancel")), MailOutcome::accepted);
  EXPECT_EQ(mail(request(1, MailKind::cancel, "cancel")), MailOutcome::unknown_slot);
  EXPECT_EQ(mail(request(1, MailKind::cancel, "p_1")), MailOutcome::unknown_slot);

  EXPECT_EQ(mailboxes(1), (std::vector{request_box(1, MailKind::cancel, "cancel"),
                                       request_box(1, MailKind::progress, "p_1"),
                                       request_box(1, MailKind::progress, "p_2")}));
}

TEST_P(StoreContract, ARequestDoesNotFillTheMailboxOfAnAnswer) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a"})));

  EXPECT_EQ(mail(request(1, MailKind::progress, "tu_a")), MailOutcome::unknown_slot);

  EXPECT_EQ(mailboxes(1), std::vector{open_mailbox(1, "tu_a")});
}

TEST_P(StoreContract, AnAnswerDoesNotFillTheMailboxOfARequest) {
  create(1);
  ASSERT_EQ(mail(cancel_request(1)), MailOutcome::accepted);

  EXPECT_EQ(mail(answer(1, "cancel", "x")), MailOutcome::unknown_slot);

  EXPECT_EQ(mailboxes(1), std::vector{request_box(1, MailKind::cancel, "cancel")});
}

TEST_P(StoreContract, WhatBecameOfMailIsReadFromTheMailboxes) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a", "tu_b"})));
  const Mail ours = answer(1, "tu_a", "ours");
  EXPECT_EQ(outcome_in(mailboxes(1), ours), std::nullopt);
  EXPECT_EQ(outcome_in(mailboxes(1), cancel_request(1)), std::nullopt);

  ASSERT_EQ(mail(ours), MailOutcome::accepted);
  ASSERT_EQ(mail(cancel_request(1)), MailOutcome::accepted);

  EXPECT_EQ(outcome_in(mailboxes(1), ours), MailOutcome::accepted);
  EXPECT_EQ(outcome_in(mailboxes(1), answer(1, "tu_a", "late")), MailOutcome::unknown_slot);
  EXPECT_EQ(outcome_in(mailboxes(1), answer(1, "tu_b", "ours")), std::nullopt);
  EXPECT_EQ(outcome_in(mailboxes(1), cancel_request(1)), MailOutcome::accepted);
}

TEST_P(StoreContract, MailToARunOfANewerFormatIsRefused) {
  NewRun newer = newer_run(1);
  newer.effects.open = {open_mailbox(1, "tu_a")};
  ASSERT_TRUE(wait_for(store().create(newer)));

  EXPECT_EQ(mail(answer(1, "tu_a", "x")), MailOutcome::newer_format);
  EXPECT_EQ(mail(cancel_request(1)), MailOutcome::newer_format);

  EXPECT_EQ(mailboxes(1), std::vector{open_mailbox(1, "tu_a")});
}

TEST_P(StoreContract, MailOfAFormerOwnerIsRefused) {
  auto former = create(1);
  ASSERT_TRUE(append(waiting_commit(1, former, {"tu_a"})));
  reopen();
  auto current = claim(10).at(0).row.epoch;

  EXPECT_EQ(mail(owners_answer(1, "tu_a", former)), MailOutcome::stale_epoch);
  EXPECT_EQ(mailboxes(1), std::vector{open_mailbox(1, "tu_a")});
  EXPECT_EQ(mail(owners_answer(1, "tu_a", current)), MailOutcome::accepted);
}

TEST_P(StoreContract, ClosedMailboxesAreGoneAndTheOthersStay) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a", "tu_b"})));
  Commit folding = commit_of(1, epoch, events_segment(2, 2, 1));
  folding.effects.close = {"tu_a"};
  folding.effects.open = {open_mailbox(1, "tu_c")};

  ASSERT_TRUE(append(folding));

  EXPECT_EQ(mailboxes(1), (std::vector{open_mailbox(1, "tu_b"), open_mailbox(1, "tu_c")}));
  EXPECT_EQ(mail(answer(1, "tu_a", "x")), MailOutcome::unknown_slot);
}

TEST_P(StoreContract, OpeningAMailboxAgainMovesItsDeadlineAndKeepsItsMail) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a"})));
  ASSERT_EQ(mail(answer(1, "tu_a", "kept")), MailOutcome::accepted);
  Mailbox later = open_mailbox(1, "tu_a");
  later.deadline += seconds(7);
  Commit again = commit_of(1, epoch, events_segment(2, 2, 1));
  again.effects.open = {later};

  ASSERT_TRUE(append(again));

  EXPECT_EQ(mailboxes(1), std::vector{filled(later, "kept")});
}

TEST_P(StoreContract, ARefusedAppendLeavesTheMailAlone) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a"})));
  Commit stale = commit_of(1, epoch - 1, events_segment(2, 2, 1));
  stale.effects.close = {"tu_a"};
  stale.effects.open = {open_mailbox(1, "tu_b")};

  ASSERT_FALSE(append(stale));

  EXPECT_EQ(mailboxes(1), std::vector{open_mailbox(1, "tu_a")});
}

TEST_P(StoreContract, TheEndOfARunRemovesItsMailboxesOnly) {
  auto epoch = create(1);
  create(2);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a", "tu_b"})));
  ASSERT_TRUE(append(waiting_commit(2, epoch, {"tu_a"})));
  ASSERT_EQ(mail(answer(1, "tu_b", "late")), MailOutcome::accepted);

  ASSERT_TRUE(append(last_commit(1, epoch, events_segment(2, 2, 1))));

  EXPECT_EQ(mailboxes(1), std::vector<Mailbox>());
  EXPECT_EQ(mailboxes(2), std::vector{open_mailbox(2, "tu_a")});
}

}  // namespace errand
