#pragma once

// The part of the contract about pending calls: their time, and clients that share them.

#include "store/store_contract_mail.hpp"

namespace errand {

using Claimed = CallClaimOutcome::Kind;

TEST_P(StoreContract, AClaimIsInForceUntilItsTimeIsUp) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a"})));
  Mailbox expected = open_mailbox(1, "tu_a");
  expected.claim_id = "first";
  expected.claimed_until = store().now() + seconds(10);

  CallClaimOutcome first = claim_call(call_claim("tu_a", "first", seconds(10)));
  clock().pass(milliseconds(9'999));
  CallClaimOutcome early = claim_call(call_claim("tu_a", "second", seconds(10)));
  clock().pass(milliseconds(1));
  CallClaimOutcome second = claim_call(call_claim("tu_a", "second", seconds(10)));

  EXPECT_EQ(first.kind, Claimed::claimed);
  EXPECT_EQ(first.box, expected);
  EXPECT_EQ(early.kind, Claimed::taken);
  EXPECT_EQ(second.kind, Claimed::claimed);
  EXPECT_EQ(second.box.claim_id, "second");
}

TEST_P(StoreContract, AClaimThatIsMadeAgainIsRenewed) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a"})));
  ASSERT_EQ(claim_call(call_claim("tu_a", "first", seconds(10))).kind, Claimed::claimed);
  clock().pass(seconds(5));
  CallClaimOutcome again = claim_call(call_claim("tu_a", "first", seconds(10)));
  EXPECT_EQ(again.kind, Claimed::claimed);
  EXPECT_EQ(again.box.claimed_until, store().now() + seconds(10));
  EXPECT_EQ(claim_call(call_claim("tu_a", "second", seconds(10))).kind, Claimed::taken);
}

TEST_P(StoreContract, OneOfFiftyClaimsWins) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a"})));
  std::vector<Task<Result<CallClaimOutcome>>> race;
  for (int i = 0; i < 50; ++i) {
    race.push_back(store().claim_call(call_claim("tu_a", cat("claim ", i), seconds(10))));
  }

  auto results = wait_for_all(std::move(race));

  EXPECT_EQ(
      std::count_if(results.begin(), results.end(),
                    [](const auto& result) { return result.value().kind == Claimed::claimed; }),
      1);
}

TEST_P(StoreContract, WhileClaimedOnlyTheClaimantAndTheOwnerFillTheMailbox) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a", "tu_b"})));
  ASSERT_EQ(claim_call(call_claim("tu_a", "mine", seconds(10))).kind, Claimed::claimed);
  ASSERT_EQ(claim_call(call_claim("tu_b", "mine too", seconds(10))).kind, Claimed::claimed);

  EXPECT_EQ(mail(answer(1, "tu_a", "x")), MailOutcome::claimed);
  EXPECT_EQ(mail(claimed_answer(1, "tu_a", "another's")), MailOutcome::claimed);
  EXPECT_EQ(mail(claimed_answer(1, "tu_a", "mine")), MailOutcome::accepted);
  EXPECT_EQ(mail(owners_answer(1, "tu_b", epoch - 1)), MailOutcome::stale_epoch);
  EXPECT_EQ(mail(owners_answer(1, "tu_b", epoch)), MailOutcome::accepted);
}

TEST_P(StoreContract, AfterItsClaimHasRunOutAnyoneMayAnswer) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a", "tu_b"})));
  ASSERT_EQ(claim_call(call_claim("tu_a", "slow", seconds(1))).kind, Claimed::claimed);
  ASSERT_EQ(claim_call(call_claim("tu_b", "slow too", seconds(1))).kind, Claimed::claimed);

  clock().pass(seconds(1));

  EXPECT_EQ(mail(answer(1, "tu_a", "x")), MailOutcome::accepted);
  EXPECT_EQ(mail(claimed_answer(1, "tu_b", "slow too")), MailOutcome::accepted);
}

TEST_P(StoreContract, AClaimIsExtendedUntilAnotherIsMade) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a"})));
  ASSERT_EQ(claim_call(call_claim("tu_a", "first", seconds(5))).kind, Claimed::claimed);

  clock().pass(seconds(4));
  CallClaimOutcome extended = claim_call(call_extension("tu_a", "first", seconds(5)));
  CallClaimOutcome foreign = claim_call(call_extension("tu_a", "never made", seconds(5)));
  clock().pass(seconds(6));
  CallClaimOutcome late = claim_call(call_extension("tu_a", "first", seconds(1)));
  clock().pass(seconds(1));
  ASSERT_EQ(claim_call(call_claim("tu_a", "second", seconds(5))).kind, Claimed::claimed);
  CallClaimOutcome lost = claim_call(call_extension("tu_a", "first", seconds(5)));

  EXPECT_EQ(extended.kind, Claimed::claimed);
  EXPECT_EQ(extended.box.claimed_until, StoreTime(seconds(9)));
  EXPECT_EQ(foreign.kind, Claimed::taken);
  EXPECT_EQ(late.kind, Claimed::claimed);
  EXPECT_EQ(lost.kind, Claimed::taken);
}

TEST_P(StoreContract, AClaimEndsWithTheTimeOfItsCall) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a"})));

  CallClaimOutcome claimed = claim_call(call_claim("tu_a", "mine", std::chrono::hours(9)));

  EXPECT_EQ(claimed.box.claimed_until, StoreTime(kCallTime));
}

TEST_P(StoreContract, OnlyOpenCallsOfTheWorkspaceAreClaimed) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a", "tu_b"})));
  ASSERT_EQ(mail(answer(1, "tu_b", "done")), MailOutcome::accepted);
  ASSERT_EQ(mail(cancel_request(1)), MailOutcome::accepted);
  CallClaim elsewhere = call_claim("tu_a", "x", seconds(5));
  elsewhere.workspace = workspace("other");

  EXPECT_EQ(claim_call(elsewhere).kind, Claimed::unknown_slot);
  EXPECT_EQ(claim_call(call_claim("tu_b", "x", seconds(5))).kind, Claimed::unknown_slot);
  EXPECT_EQ(claim_call(call_claim("tu_z", "x", seconds(5))).kind, Claimed::unknown_slot);
  EXPECT_EQ(claim_call(call_claim("cancel", "x", seconds(5))).kind, Claimed::unknown_slot);
}

TEST_P(StoreContract, PendingCallsAreListedBySlotStatusAndName) {
  auto epoch = create(1);
  create(2);
  Commit first = waiting_commit(1, epoch, {"tu_c", "tu_a", "tu_d"});
  first.effects.open[1].name = "other";
  ASSERT_TRUE(append(first));
  ASSERT_TRUE(append(waiting_commit(2, epoch, {"tu_b", "tu_e"})));
  ASSERT_EQ(mail(answer(1, "tu_d", "done")), MailOutcome::accepted);
  ASSERT_EQ(mail(cancel_request(2)), MailOutcome::accepted);
  ASSERT_EQ(claim_call(call_claim("tu_c", "x", seconds(5))).kind, Claimed::claimed);
  using Slots = std::vector<std::string>;
  using Status = CallFilter::Status;

  EXPECT_EQ(pending({}), (Slots{"tu_a", "tu_b", "tu_c", "tu_e"}));
  EXPECT_EQ(pending({.name = "lookup"}), (Slots{"tu_b", "tu_c", "tu_e"}));
  EXPECT_EQ(pending({.status = Status::unclaimed}), (Slots{"tu_a", "tu_b", "tu_e"}));
  EXPECT_EQ(pending({.status = Status::claimed}), Slots{"tu_c"});
  EXPECT_EQ(pending({.after = "tu_a", .limit = 2}), (Slots{"tu_b", "tu_c"}));
  EXPECT_EQ(pending({.bytes_max = 1}), (Slots{"tu_a", "tu_b"})) << "the last one tells of more";
  EXPECT_EQ(pending({.slot = "tu_b"}), Slots{"tu_b"});
  EXPECT_EQ(pending({.slot = "tu_d"}), Slots());
  EXPECT_EQ(pending({.name = "other", .slot = "tu_b"}), Slots());
  clock().pass(seconds(5));
  EXPECT_EQ(pending({.status = Status::claimed}), Slots());
}

TEST_P(StoreContract, CallsOfAClaimedRunStayOpenForAtLeastTheGrace) {
  auto epoch = create(1);
  Commit waiting = waiting_commit(1, epoch, {"tu_a", "tu_b"});
  waiting.effects.open[1].deadline += std::chrono::hours(1);
  ASSERT_TRUE(append(waiting));
  ASSERT_TRUE(wait_for(store().renew()));
  clock().pass(kCallTime - seconds(2));
  ASSERT_TRUE(wait_for(store().renew()));

  reopen();
  auto claimed = claim(10, seconds(30));

  Mailbox longer = open_mailbox(1, "tu_a");
  longer.deadline = store().now() + seconds(30);
  Mailbox untouched = open_mailbox(1, "tu_b");
  untouched.deadline += std::chrono::hours(1);
  ASSERT_EQ(claimed.size(), 1U);
  EXPECT_EQ(claimed[0].mail, (std::vector{longer, untouched}));
  EXPECT_EQ(mailboxes(1), (std::vector{longer, untouched}));
}

}  // namespace errand
