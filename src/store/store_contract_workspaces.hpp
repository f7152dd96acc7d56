#pragma once

// The part of the contract about workspaces: none reaches into another.

#include "store/store_contract_blobs.hpp"
#include "store/store_contract_lists.hpp"
#include "store/store_contract_mail.hpp"

namespace errand {

using namespace store_contract;

inline NewRun run_in_with_blobs(std::string_view in, int number, std::vector<RunBlob> blobs) {
  NewRun run = run_with_blobs(number, std::move(blobs));
  run.row.workspace = workspace(in);
  return run;
}

inline std::string blob_in(Store& store, const RunKey& run, std::string hash) {
  auto bytes = wait_for(store.read_blob(run, std::move(hash)));
  return bytes ? *bytes : std::string(to_string(bytes.error().code()));
}

TEST_P(StoreContract, ARunOfAnotherWorkspaceIsNotFoundNorRead) {
  ASSERT_TRUE(wait_for(store().create(run_with_blobs(1, {blob("h1", "a")}))));
  ASSERT_TRUE(append(waiting_commit(1, store().epoch(), {"tu_a"})));
  const RunKey elsewhere = run_key(1, "other");

  EXPECT_EQ(wait_for(store().find(elsewhere)).error().code(), ErrorCode::not_found);
  EXPECT_EQ(wait_for(store().mailboxes(elsewhere)).value(), std::vector<Mailbox>());
  EXPECT_EQ(wait_for(store().read_events(elsewhere, 0, 1 << 20)).value().size(), 0U);
  EXPECT_EQ(wait_for(store().read_log(elsewhere, -1, 1 << 20)).value().size(), 0U);
  EXPECT_EQ(wait_for(store().read_journal(elsewhere, -1, 1 << 20)).value().size(), 0U);
  EXPECT_EQ(blob_in(store(), elsewhere, "h1"), "not_found");
  EXPECT_EQ(blob_in(store(), run_key(1), "h1"), "a");
}

TEST_P(StoreContract, ARunOfAnotherWorkspaceIsNotWrittenTo) {
  auto epoch = create(1);
  ASSERT_TRUE(append(waiting_commit(1, epoch, {"tu_a"})));
  Commit commit = commit_of(1, epoch, events_segment(2, 2, 1));
  commit.key = run_key(1, "other");
  Commit end = last_commit(1, epoch, events_segment(2, 2, 1));
  end.key = run_key(1, "other");
  Mail mail_elsewhere = answer(1, "tu_a", "x");
  mail_elsewhere.to = run_key(1, "other");
  CallClaim claim_elsewhere = call_claim("tu_a", "x", seconds(5));
  claim_elsewhere.workspace = workspace("other");
  const RunRow before = find(1);

  EXPECT_EQ(refusal(commit), CommitRefusal::stale_epoch);
  EXPECT_EQ(refusal(end), CommitRefusal::stale_epoch);
  EXPECT_EQ(mail(mail_elsewhere), MailOutcome::unknown_run);
  EXPECT_EQ(claim_call(claim_elsewhere).kind, CallClaimOutcome::Kind::unknown_slot);
  EXPECT_EQ(wait_for(store().release(run_key(1, "other"), epoch)).error().code(),
            ErrorCode::conflict);

  EXPECT_EQ(find(1), before);
  EXPECT_EQ(mailboxes(1), std::vector{open_mailbox(1, "tu_a")});
}

TEST_P(StoreContract, PendingCallsOfAnotherWorkspaceAreNotListed) {
  NewRun elsewhere = new_run_in("other", 1);
  elsewhere.effects.open = {open_mailbox(1, "tu_a")};
  ASSERT_TRUE(wait_for(store().create(elsewhere)));

  EXPECT_EQ(pending({}), std::vector<std::string>());
}

TEST_P(StoreContract, BlobsOfAnotherWorkspaceAreNotFoundByTheirHash) {
  ASSERT_TRUE(wait_for(store().create(run_in_with_blobs("other", 1, {blob("h1", "theirs")}))));

  auto stolen = wait_for(store().create(run_with_blobs(2, {shared_blob("h1")})));
  auto epoch = create(3);
  Commit commit = commit_of(3, epoch, events_segment(1, 1, 1));
  commit.effects.blobs = {shared_blob("h1")};
  auto stolen_later = wait_for(store().append(commit));

  EXPECT_EQ(stolen.error().code(), ErrorCode::not_found);
  EXPECT_EQ(stolen_later.error().code(), ErrorCode::not_found);
}

TEST_P(StoreContract, EqualHashesInTwoWorkspacesAreTwoBlobs) {
  auto epoch = wait_for(store().create(run_with_blobs(1, {blob("h1", "ours")}))).value().epoch;
  ASSERT_TRUE(wait_for(store().create(run_in_with_blobs("other", 2, {blob("h1", "theirs")}))));
  EXPECT_EQ(blob_in(store(), run_key(1), "h1"), "ours");
  EXPECT_EQ(blob_in(store(), run_key(2, "other"), "h1"), "theirs");

  ASSERT_TRUE(append(last_commit(1, epoch, events_segment(1, 1, 1))));
  ASSERT_EQ(prune_all(store(), everything_ended(store(), 100)), 1U);

  EXPECT_EQ(blob_in(store(), run_key(2, "other"), "h1"), "theirs");
  EXPECT_EQ(wait_for(store().create(run_with_blobs(3, {shared_blob("h1")}))).error().code(),
            ErrorCode::not_found);
}

TEST_P(StoreContract, RunsOfAnotherWorkspaceAreNotListedByMetadata) {
  NewRun elsewhere = new_run_in("other", 1);
  elsewhere.row.metadata = R"({"team":"red"})";
  ASSERT_TRUE(wait_for(store().create(elsewhere)));

  EXPECT_EQ(listed(store(), with_metadata({{"team", "red"}})), std::vector<RunId>());
}

}  // namespace errand
