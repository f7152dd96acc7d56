#pragma once

// The part of the contract about bytes that logs name by a hash and do not hold.

#include "store/store_contract_growth.hpp"

namespace errand {

using namespace store_contract;

inline RunBlob blob(std::string hash, std::string bytes) {
  return {.hash = std::move(hash), .bytes = std::make_shared<const std::string>(std::move(bytes))};
}

inline RunBlob shared_blob(std::string hash) {
  return {.hash = std::move(hash), .bytes = nullptr};
}

inline NewRun run_with_blobs(int number, std::vector<RunBlob> blobs) {
  NewRun run = new_run(number);
  run.effects.blobs = std::move(blobs);
  return run;
}

inline Mail answer_with_blobs(int run, std::string slot, std::vector<RunBlob> blobs) {
  Mail mail = answer(run, std::move(slot), "{}");
  mail.effects.blobs = std::move(blobs);
  return mail;
}

// The bytes, or the code of the error.
inline std::string blob_of(Store& store, int run, std::string hash) {
  auto bytes = wait_for(store.read_blob(run_key(run), std::move(hash)));
  return bytes ? *bytes : std::string(to_string(bytes.error().code()));
}

TEST_P(StoreContract, BlobsComeWithTheRunThatIsCreated) {
  const std::string bytes("\0\xff\n", 3);
  ASSERT_TRUE(wait_for(store().create(run_with_blobs(1, {blob("h1", bytes), blob("h2", "")}))));
  create(2);
  reopen();

  EXPECT_EQ(blob_of(store(), 1, "h1"), bytes);
  EXPECT_EQ(blob_of(store(), 1, "h2"), "");
  EXPECT_EQ(blob_of(store(), 1, "h3"), "not_found");
  EXPECT_EQ(blob_of(store(), 2, "h1"), "not_found") << "another run's";
}

TEST_P(StoreContract, LargeBlobsAreWhole) {
  const std::string bytes(5U << 20, 'x');
  ASSERT_TRUE(wait_for(store().create(run_with_blobs(1, {blob("h1", bytes)}))));
  reopen();

  EXPECT_TRUE(blob_of(store(), 1, "h1") == bytes);
}

TEST_P(StoreContract, ARunThatIsNotCreatedLeavesNoBlobs) {
  NewRun first = keyed_run(1, "key", "same");
  ASSERT_TRUE(wait_for(store().create(first)));
  NewRun again = keyed_run(2, "key", "same");
  again.effects.blobs = {blob("h1", "a")};
  NewRun other = keyed_run(3, "key", "other");
  other.effects.blobs = {blob("h1", "a")};

  EXPECT_EQ(wait_for(store().create(again)).value().kind, Creation::existing);
  EXPECT_EQ(wait_for(store().create(other)).value().kind, Creation::conflict);
  EXPECT_FALSE(wait_for(store().create(run_with_blobs(1, {blob("h1", "a")}))));

  EXPECT_EQ(blob_of(store(), 1, "h1"), "not_found");
  EXPECT_EQ(wait_for(store().create(run_with_blobs(4, {shared_blob("h1")}))).error().code(),
            ErrorCode::not_found)
      << "nobody has kept it";
}

TEST_P(StoreContract, BlobsComeWithMailThatIsAccepted) {
  auto epoch = create(1);
  Commit opening = commit_of(1, epoch, events_segment(1, 1, 1));
  opening.effects.open = {open_mailbox(1, "tu_a")};
  ASSERT_TRUE(append(opening));

  EXPECT_EQ(mail(answer_with_blobs(1, "tu_a", {blob("h1", "a")})), MailOutcome::accepted);
  EXPECT_EQ(mail(answer_with_blobs(1, "tu_a", {blob("h2", "b")})), MailOutcome::unknown_slot);
  EXPECT_EQ(mail(answer_with_blobs(2, "tu_a", {blob("h3", "c")})), MailOutcome::unknown_run);
  Commit closing = commit_of(1, epoch, events_segment(2, 2, 1));
  closing.effects.close = {"tu_a"};
  ASSERT_TRUE(append(closing));
  reopen();

  EXPECT_EQ(blob_of(store(), 1, "h1"), "a");
  EXPECT_EQ(blob_of(store(), 1, "h2"), "not_found");
  EXPECT_EQ(blob_of(store(), 2, "h3"), "not_found");
}

TEST_P(StoreContract, BlobsAreSharedUntilTheLastRunThatHasThemIsRemoved) {
  auto epoch = wait_for(store().create(run_with_blobs(1, {blob("h1", "a")}))).value().epoch;
  ASSERT_TRUE(wait_for(store().create(run_with_blobs(2, {shared_blob("h1"), blob("h2", "b")}))));
  ASSERT_TRUE(wait_for(store().create(run_with_blobs(3, {blob("h1", "a"), blob("h1", "a")}))));
  auto remove = [&](int run) {
    ASSERT_TRUE(append(last_commit(run, epoch, events_segment(1, 1, 1))));
    EXPECT_EQ(prune_all(store(), everything_ended(store(), 100)), 1U);
  };

  remove(1);
  EXPECT_EQ(blob_of(store(), 1, "h1"), "not_found");
  EXPECT_EQ(blob_of(store(), 2, "h1"), "a");
  EXPECT_EQ(blob_of(store(), 3, "h1"), "a");
  remove(3);
  EXPECT_EQ(blob_of(store(), 2, "h1"), "a");
  remove(2);
  for (std::string hash : {"h1", "h2"}) {
    EXPECT_EQ(wait_for(store().create(run_with_blobs(4, {shared_blob(hash)}))).error().code(),
              ErrorCode::not_found);
  }
}

TEST_P(StoreContract, ManyLargeBlobsAreRemovedInSmallSteps) {
  std::vector<RunBlob> blobs;
  for (int i = 0; i < 20; ++i) blobs.push_back(blob(cat("h", i), std::string(1U << 20, 'x')));
  auto epoch = wait_for(store().create(run_with_blobs(1, blobs))).value().epoch;
  ASSERT_TRUE(append(last_commit(1, epoch, events_segment(1, 1, 1))));

  wait_for(store().prune(everything_ended(store(), 2))).value();
  reopen();
  prune_all(store(), everything_ended(store(), 2));

  EXPECT_EQ(log(1, -1, 1 << 20), std::vector<Segment>());
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(wait_for(store().create(run_with_blobs(2, {shared_blob(cat("h", i))}))));
  }
}

}  // namespace errand
