#pragma once

// The part of the contract about lists of runs and about API keys.

#include "store/store_contract.hpp"

namespace errand {

using namespace store_contract;

inline std::vector<RunId> listed(Store& store, RunFilter filter) {
  auto rows = wait_for(store.list(std::move(filter))).value();
  std::vector<RunId> out;
  for (const RunRow& row : rows) out.push_back(row.id);
  return out;
}

inline RunFilter everything() {
  RunFilter filter;
  filter.workspace = workspace();
  return filter;
}

inline RunFilter with_status(RunStatus status) {
  RunFilter filter = everything();
  filter.status = status;
  return filter;
}

inline RunFilter with_metadata(std::vector<std::pair<std::string, std::string>> pairs) {
  RunFilter filter = everything();
  filter.metadata = std::move(pairs);
  return filter;
}

inline ApiKeyRow api_key(int number) {
  return {.id = *KeyId::parse(cat("key_", number)),
          .workspace = workspace(),
          .name = "ci",
          .hash = cat("hash", number),
          .prefix = "ek_12",
          .created_at = from_millis(1000 + number),
          .revoked_at = {}};
}

TEST_P(StoreContract, RunsAreListedNewestFirstAndByPage) {
  for (int number = 1; number <= 5; ++number) create(number);
  RunFilter page = everything();
  page.limit = 2;

  EXPECT_EQ(listed(store(), page), (std::vector{run_id(5), run_id(4)}));
  page.before = run_id(4);
  EXPECT_EQ(listed(store(), page), (std::vector{run_id(3), run_id(2)}));
  page.before = run_id(2);
  EXPECT_EQ(listed(store(), page), std::vector{run_id(1)});
  page.before = run_id(1);
  EXPECT_EQ(listed(store(), page), std::vector<RunId>());
}

// Run n was created n milliseconds after the first.
inline CreatedBetween created_between(int from, int until) {
  const WallTime first = new_run(0).row.created_at;
  return {.from = first + milliseconds(from),
          .until = first + milliseconds(until),
          .first = run_id(from).str(),
          .last = run_id(until).str()};
}

TEST_P(StoreContract, RunsAreListedByTheTimeOfTheirCreation) {
  for (int number = 1; number <= 6; ++number) {
    NewRun run = new_run(number);
    run.row.metadata = number % 2 ? R"({"odd":"yes"})" : "{}";
    ASSERT_TRUE(wait_for(store().create(run)));
  }
  RunFilter filter = everything();
  filter.created = created_between(2, 5);
  RunFilter odd = with_metadata({{"odd", "yes"}});
  odd.created = filter.created;
  RunFilter without_ids = filter;
  without_ids.created.first.clear();
  without_ids.created.last.clear();
  RunFilter later = filter;
  later.before = run_id(4);

  EXPECT_EQ(listed(store(), filter), (std::vector{run_id(4), run_id(3), run_id(2)}));
  EXPECT_EQ(listed(store(), odd), std::vector{run_id(3)});
  EXPECT_EQ(listed(store(), without_ids), (std::vector{run_id(4), run_id(3), run_id(2)}));
  EXPECT_EQ(listed(store(), later), (std::vector{run_id(3), run_id(2)}));
}

TEST_P(StoreContract, AListHasWholeRowsOfItsWorkspaceOnly) {
  create(1);
  ASSERT_TRUE(wait_for(store().create(new_run_in("other", 2))));

  EXPECT_EQ(wait_for(store().list(everything())).value(), std::vector{find(1)});
}

TEST_P(StoreContract, RunsAreListedByStatusAndRunningFindsWaiting) {
  auto epoch = create(1);
  for (int number = 2; number <= 5; ++number) create(number);
  Commit waiting = commit_of(2, epoch, events_segment(1, 1, 1));
  waiting.status = RunStatus::waiting;
  Commit failed = commit_of(4, epoch, events_segment(1, 1, 1));
  failed.status = RunStatus::failed;
  ASSERT_TRUE(append(commit_of(1, epoch, events_segment(1, 1, 1))));
  ASSERT_TRUE(append(waiting));
  ASSERT_TRUE(append(last_commit(3, epoch, events_segment(1, 1, 1))));
  ASSERT_TRUE(append(failed));

  EXPECT_EQ(listed(store(), with_status(RunStatus::running)), (std::vector{run_id(2), run_id(1)}));
  EXPECT_EQ(listed(store(), with_status(RunStatus::queued)), std::vector{run_id(5)});
  EXPECT_EQ(listed(store(), with_status(RunStatus::succeeded)), std::vector{run_id(3)});
  EXPECT_EQ(listed(store(), with_status(RunStatus::failed)), std::vector{run_id(4)});
  EXPECT_EQ(listed(store(), with_status(RunStatus::cancelled)), std::vector<RunId>());
}

TEST_P(StoreContract, UnfinishedRunsArePagedWithinTheirWorkspace) {
  for (int number = 1; number <= 3; ++number) create(number);
  ASSERT_TRUE(wait_for(store().create(new_run_in("other", 4))));
  RunFilter page = with_status(RunStatus::queued);
  page.limit = 1;
  page.before = run_id(3);

  EXPECT_EQ(listed(store(), page), std::vector{run_id(2)});
}

TEST_P(StoreContract, RunsAreListedByMetadataOfWhichEveryPairMatches) {
  NewRun first = new_run(1);
  first.row.metadata = R"({"team":"red","ticket":"a\"b"})";
  NewRun second = new_run(2);
  second.row.metadata = R"({"team":"red","ticket":"7","n":7})";
  ASSERT_TRUE(wait_for(store().create(first)));
  ASSERT_TRUE(wait_for(store().create(second)));
  create(3);

  EXPECT_EQ(listed(store(), with_metadata({{"team", "red"}})), (std::vector{run_id(2), run_id(1)}));
  EXPECT_EQ(listed(store(), with_metadata({{"team", "red"}, {"ticket", "a\"b"}})),
            std::vector{run_id(1)});
  EXPECT_EQ(listed(store(), with_metadata({{"team", "blue"}})), std::vector<RunId>());
  EXPECT_EQ(listed(store(), with_metadata({{"n", "7"}})), std::vector<RunId>());
}

// A run with this metadata that ends as `status` says, or goes on.
inline void create_with(Store& store, int number, std::string metadata, RunStatus status) {
  NewRun run = new_run(number);
  run.row.metadata = std::move(metadata);
  ASSERT_TRUE(wait_for(store.create(run)));
  Commit commit = commit_of(number, store.epoch(), events_segment(1, 1, 1));
  commit.status = status;
  ASSERT_TRUE(is_appended(wait_for(store.append(commit))));
}

TEST_P(StoreContract, RunsAreListedByMetadataAndStatusTogetherAndByPage) {
  for (int number = 1; number <= 40; ++number) {
    create_with(
        store(), number,
        cat(R"({"team":")", number % 2 ? "red" : "blue", R"(","size":")", number % 3, R"("})"),
        number % 5 == 0   ? RunStatus::failed
        : number % 5 == 1 ? RunStatus::waiting
                          : RunStatus::succeeded);
  }
  RunFilter failed = with_metadata({{"team", "red"}});
  failed.status = RunStatus::failed;
  RunFilter running = with_metadata({{"size", "1"}, {"team", "red"}});
  running.status = RunStatus::running;
  RunFilter page = with_metadata({{"team", "blue"}, {"size", "0"}});
  page.limit = 2;
  page.before = run_id(24);

  EXPECT_EQ(listed(store(), failed), (std::vector{run_id(35), run_id(25), run_id(15), run_id(5)}));
  EXPECT_EQ(listed(store(), running), (std::vector{run_id(31), run_id(1)}));
  EXPECT_EQ(listed(store(), page), (std::vector{run_id(18), run_id(12)}));
}

TEST_P(StoreContract, ARunThatIsRemovedIsNotListedByItsMetadata) {
  create_with(store(), 1, R"({"team":"red"})", RunStatus::succeeded);
  create_with(store(), 2, R"({"team":"red"})", RunStatus::waiting);

  EXPECT_EQ(wait_for(store().prune(everything_ended(store(), 100))).value().runs, 1U);

  EXPECT_EQ(listed(store(), with_metadata({{"team", "red"}})), std::vector{run_id(2)});
}

TEST_P(StoreContract, KeysAreAddedListedAndRevokedOnce) {
  ApiKeyRow revoked = api_key(2);
  revoked.revoked_at = from_millis(7777);
  ASSERT_TRUE(wait_for(store().add_key(api_key(2), {})));
  ASSERT_TRUE(wait_for(store().add_key(api_key(1), {})));

  EXPECT_TRUE(wait_for(store().revoke_key(workspace(), api_key(2).id, from_millis(7777))));
  EXPECT_TRUE(wait_for(store().revoke_key(workspace(), api_key(2).id, from_millis(9999))));

  EXPECT_EQ(wait_for(store().list_keys()).value(), (std::vector{api_key(1), revoked}));
}

TEST_P(StoreContract, AKeyWithAKnownHashConflicts) {
  ApiKeyRow twin = api_key(2);
  twin.hash = api_key(1).hash;
  ASSERT_TRUE(wait_for(store().add_key(api_key(1), {})));

  auto refused = wait_for(store().add_key(twin, {}));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  EXPECT_EQ(wait_for(store().list_keys()).value(), std::vector{api_key(1)});
}

TEST_P(StoreContract, EqualRequestsForAKeyMakeOne) {
  const Idempotency once{.key = "k", .fingerprint = "same"};
  const Idempotency other{.key = "k", .fingerprint = "other"};
  ASSERT_TRUE(wait_for(store().add_key(api_key(1), once)));

  AddKeyOutcome again = wait_for(store().add_key(api_key(2), once)).value();
  AddKeyOutcome conflict = wait_for(store().add_key(api_key(3), other)).value();
  CreateOutcome run = wait_for(store().create(keyed_run(1, "k", "a run"))).value();

  EXPECT_EQ(again.kind, Creation::existing);
  EXPECT_EQ(again.key, api_key(1));
  EXPECT_EQ(conflict.kind, Creation::conflict);
  EXPECT_EQ(run.kind, Creation::conflict);
  EXPECT_EQ(wait_for(store().list_keys()).value(), std::vector{api_key(1)});
}

TEST_P(StoreContract, RevokingAKeyOfAnotherWorkspaceIsNotFound) {
  ASSERT_TRUE(wait_for(store().add_key(api_key(1), {})));

  auto elsewhere = wait_for(store().revoke_key(workspace("other"), api_key(1).id, {}));

  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().code(), ErrorCode::not_found);
  EXPECT_EQ(wait_for(store().list_keys()).value(), std::vector{api_key(1)});
}

TEST_P(StoreContract, AnOpenStoreAnswersPings) {
  EXPECT_TRUE(wait_for(store().ping()));
}

}  // namespace errand
