#pragma once

// The part of the contract about commits: their changes at once, and their refusals.

#include "store/store_contract_blobs.hpp"
#include "store/store_contract_mail.hpp"

namespace errand {

using namespace store_contract;

// "appended", or why not, of each result.
inline std::vector<std::string> outcomes(const std::vector<Result<Appended>>& results) {
  std::vector<std::string> out;
  for (const auto& result : results) {
    const Appended& appended = result.value();
    out.emplace_back(appended.refused ? to_string(*appended.refused) : "appended");
  }
  return out;
}

TEST_P(StoreContract, AppendMovesTheRowToTheEndOfTheLog) {
  auto epoch = create(1);
  Commit first = commit_of(1, epoch, events_segment(1, 1, 3));
  first.status = RunStatus::waiting;
  RunRow expected = find(1);
  expected.status = RunStatus::waiting;
  expected.last_seq = 3;
  expected.segments = 2;
  expected.updated_at = from_millis(9001);

  ASSERT_TRUE(append(first));

  EXPECT_EQ(find(1), expected);
  EXPECT_EQ(journal(1), "{\"created\":1}\n{\"n\":1}\n");
}

TEST_P(StoreContract, RefusedCommitsDoNotSpoilTheOthersOfTheirBatch) {
  auto epoch = create(1);
  create(2);
  create(3);
  create(4);
  ASSERT_TRUE(append(last_commit(3, epoch, events_segment(1, 1, 1))));
  Commit wrong_workspace = commit_of(4, epoch, events_segment(1, 1, 1));
  wrong_workspace.key = run_key(4, "other");

  std::vector<Task<Result<Appended>>> batch;
  batch.push_back(store().append(commit_of(1, epoch, events_segment(1, 1, 2))));
  batch.push_back(store().append(commit_of(1, epoch - 1, events_segment(2, 3, 1))));
  batch.push_back(store().append(commit_of(1, epoch, events_segment(2, 2, 1))));  // wrong seq
  batch.push_back(store().append(commit_of(1, epoch, events_segment(3, 3, 1))));  // wrong n
  batch.push_back(store().append(commit_of(9, epoch, events_segment(1, 1, 1))));  // unknown run
  batch.push_back(store().append(wrong_workspace));
  batch.push_back(store().append(last_commit(3, epoch, events_segment(2, 2, 1))));  // ended
  batch.push_back(store().append(commit_of(1, epoch, events_segment(2, 3, 1))));
  batch.push_back(store().append(commit_of(2, epoch, events_segment(1, 1, 1))));
  auto results = wait_for_all(std::move(batch));

  const std::string stale(to_string(CommitRefusal::stale_epoch));
  const std::string not_at_end(to_string(CommitRefusal::not_at_end));
  EXPECT_EQ(outcomes(results),
            (std::vector<std::string>{"appended", stale, not_at_end, not_at_end, stale, stale,
                                      not_at_end, "appended", "appended"}));
  EXPECT_EQ(find(1).last_seq, 3);
  EXPECT_EQ(find(2).last_seq, 1);
  EXPECT_EQ(find(3).last_seq, 1);
  EXPECT_EQ(find(4).last_seq, 0);
}

TEST_P(StoreContract, TheSameCommitTwiceIsRefusedOnce) {
  auto epoch = create(1);
  ASSERT_TRUE(append(commit_of(1, epoch, events_segment(1, 1, 1))));

  EXPECT_EQ(refusal(commit_of(1, epoch, events_segment(1, 1, 1))), CommitRefusal::not_at_end);
  EXPECT_EQ(find(1).segments, 2);
}

TEST_P(StoreContract, ACommitToARunOfANewerFormatIsRefused) {
  auto epoch = wait_for(store().create(newer_run(1))).value().epoch;
  const RunRow before = find(1);

  EXPECT_EQ(refusal(commit_of(1, epoch, events_segment(1, 1, 1))), CommitRefusal::newer_format);
  EXPECT_EQ(refusal(last_commit(1, epoch, events_segment(1, 1, 1))), CommitRefusal::newer_format);
  EXPECT_EQ(refusal(commit_of(1, epoch - 1, events_segment(1, 1, 1))), CommitRefusal::stale_epoch);

  EXPECT_EQ(find(1), before);
}

TEST_P(StoreContract, ARunDoesNotEndWhileACancelWaitsThatItsEndDoesNotFold) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a"})));
  ASSERT_EQ(mail(cancel_request(1)), MailOutcome::accepted);
  Commit end = last_commit(1, epoch, events_segment(2, 2, 1));
  end.effects = {.open = {}, .close = {"tu_a"}, .blobs = {blob("h1", "a")}};
  const RunRow before = find(1);

  EXPECT_EQ(refusal(end), CommitRefusal::mail_waiting);

  EXPECT_EQ(find(1), before);
  EXPECT_EQ(mailboxes(1),
            (std::vector{request_box(1, MailKind::cancel, "cancel"), open_mailbox(1, "tu_a")}));
  EXPECT_EQ(events(1, 1, 1 << 20), std::vector<Segment>());
  EXPECT_EQ(blob_of(store(), 1, "h1"), "not_found");
}

TEST_P(StoreContract, ARunEndsWithACommitThatFoldsTheCancel) {
  auto epoch = create(1);
  ASSERT_EQ(mail(cancel_request(1)), MailOutcome::accepted);
  Commit end = commit_of(1, epoch, events_segment(1, 1, 1));
  end.status = RunStatus::cancelled;
  end.effects.close = {"cancel"};

  EXPECT_TRUE(append(end));

  EXPECT_EQ(find(1).status, RunStatus::cancelled);
  EXPECT_EQ(mailboxes(1), std::vector<Mailbox>());
}

TEST_P(StoreContract, ARunEndsAfterACommitThatFoldsTheCancel) {
  auto epoch = create(1);
  ASSERT_EQ(mail(cancel_request(1)), MailOutcome::accepted);
  Commit folding = commit_of(1, epoch, events_segment(1, 1, 1));
  folding.effects.close = {"cancel"};

  EXPECT_TRUE(append(folding));
  EXPECT_TRUE(append(last_commit(1, epoch, events_segment(2, 2, 1))));
}

TEST_P(StoreContract, ACancelIsKnownByItsKindNotByItsSlot) {
  auto epoch = create(1);
  ASSERT_EQ(mail(request(1, MailKind::cancel, "stop")), MailOutcome::accepted);
  Commit end = last_commit(1, epoch, events_segment(1, 1, 1));
  end.effects.close = {"cancel"};

  EXPECT_EQ(refusal(end), CommitRefusal::mail_waiting);
  end.effects.close = {"stop"};
  EXPECT_TRUE(append(end));
}

TEST_P(StoreContract, OtherMailDoesNotKeepARunFromItsEnd) {
  auto epoch = create(1);
  create(2);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a", "cancel_b"})));
  ASSERT_EQ(mail(answer(1, "tu_a", "late")), MailOutcome::accepted);
  ASSERT_EQ(mail(request(1, MailKind::progress, "p_1")), MailOutcome::accepted);
  ASSERT_EQ(mail(cancel_request(2)), MailOutcome::accepted);

  EXPECT_TRUE(append(last_commit(1, epoch, events_segment(2, 2, 1))));
}

TEST_P(StoreContract, ACommitIsRefusedForItsPlaceBeforeTheMailThatWaits) {
  auto epoch = create(1);
  ASSERT_EQ(mail(cancel_request(1)), MailOutcome::accepted);

  EXPECT_EQ(refusal(last_commit(1, epoch - 1, events_segment(1, 1, 1))),
            CommitRefusal::stale_epoch);
  EXPECT_EQ(refusal(last_commit(1, epoch, events_segment(2, 1, 1))), CommitRefusal::not_at_end);
}

TEST_P(StoreContract, ACommitThatDoesNotEndItsRunPassesBesideACancel) {
  auto epoch = create(1);
  ASSERT_EQ(mail(cancel_request(1)), MailOutcome::accepted);

  EXPECT_TRUE(append(commit_of(1, epoch, events_segment(1, 1, 1))));

  EXPECT_EQ(mailboxes(1), std::vector{request_box(1, MailKind::cancel, "cancel")});
}

TEST_P(StoreContract, BlobsComeWithACommit) {
  auto epoch = create(1);
  ASSERT_TRUE(wait_for(store().create(run_with_blobs(2, {blob("h2", "b")}))));
  Commit commit = commit_of(1, epoch, events_segment(1, 1, 1));
  commit.effects.blobs = {blob("h1", "a"), shared_blob("h2")};
  Commit end = last_commit(1, epoch, events_segment(2, 2, 1));
  end.effects.blobs = {blob("h3", "c")};

  ASSERT_TRUE(append(commit));
  ASSERT_TRUE(append(end));
  reopen();

  EXPECT_EQ(blob_of(store(), 1, "h1"), "a");
  EXPECT_EQ(blob_of(store(), 1, "h2"), "b");
  EXPECT_EQ(blob_of(store(), 1, "h3"), "c");
  EXPECT_EQ(blob_of(store(), 2, "h1"), "not_found");
}

TEST_P(StoreContract, ARefusedCommitLeavesNoBlobs) {
  auto epoch = create(1);
  Commit stale = commit_of(1, epoch - 1, events_segment(1, 1, 1));
  stale.effects.blobs = {blob("h1", "a")};
  Commit elsewhere = commit_of(1, epoch, events_segment(2, 2, 1));
  elsewhere.effects.blobs = {blob("h1", "a")};

  EXPECT_EQ(refusal(stale), CommitRefusal::stale_epoch);
  EXPECT_EQ(refusal(elsewhere), CommitRefusal::not_at_end);

  EXPECT_EQ(blob_of(store(), 1, "h1"), "not_found");
  EXPECT_EQ(wait_for(store().create(run_with_blobs(2, {shared_blob("h1")}))).error().code(),
            ErrorCode::not_found);
}

TEST_P(StoreContract, ACommitThatNamesABlobThatIsNotThereChangesNothing) {
  auto epoch = create(1);
  Commit commit = commit_of(1, epoch, events_segment(1, 1, 1));
  commit.effects = {.open = {open_mailbox(1, "tu_a")},
                    .close = {},
                    .blobs = {blob("h1", "a"), shared_blob("h2")}};
  const RunRow before = find(1);

  auto failed = wait_for(store().append(commit));
  commit.epoch = epoch - 1;

  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), ErrorCode::not_found);
  EXPECT_EQ(find(1), before);
  EXPECT_EQ(mailboxes(1), std::vector<Mailbox>());
  EXPECT_EQ(blob_of(store(), 1, "h1"), "not_found");
  EXPECT_EQ(refusal(commit), CommitRefusal::stale_epoch) << "a refusal comes first";
}

TEST_P(StoreContract, ARunIsCreatedWithItsMailboxesOpen) {
  NewRun run = keyed_run(1, "key", "same");
  run.effects.open = {open_mailbox(1, "tu_a"), open_mailbox(1, "tu_b")};
  NewRun again = keyed_run(2, "key", "same");
  again.effects.open = {open_mailbox(2, "tu_c")};

  ASSERT_TRUE(wait_for(store().create(run)));
  ASSERT_EQ(wait_for(store().create(again)).value().kind, Creation::existing);

  EXPECT_EQ(mailboxes(1), (std::vector{open_mailbox(1, "tu_a"), open_mailbox(1, "tu_b")}));
  EXPECT_EQ(mailboxes(2), std::vector<Mailbox>());
  EXPECT_EQ(pending({}), (std::vector<std::string>{"tu_a", "tu_b"}));
  EXPECT_EQ(mail(answer(1, "tu_a", "x")), MailOutcome::accepted);
}

}  // namespace errand
