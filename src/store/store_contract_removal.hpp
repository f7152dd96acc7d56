#pragma once

// The part of the contract about removing ended runs and sessions, on request.

#include "store/store_contract_blobs.hpp"
#include "store/store_contract_histories.hpp"
#include "store/store_contract_lists.hpp"
#include "store/store_contract_session_setup.hpp"

namespace errand {

using namespace store_contract;

inline std::size_t remove(Store& store, std::vector<RunId> runs) {
  return wait_for(store.remove_runs(workspace(), std::move(runs))).value();
}

// "removed", or the code of the error.
inline std::string remove_told(Store& store, int session, std::string_view in = "default") {
  auto done = wait_for(store.remove_session(session_key(session, in)));
  return done ? "removed" : std::string(to_string(done.error().code()));
}

TEST_P(StoreContract, ARemovedRunIsInNoListAndLeavesNothing) {
  NewRun first = run_with_blobs(1, {blob("h1", "one"), blob("h2", "both")});
  first.row.metadata = R"({"team":"red"})";
  first.idempotency = {.key = "k", .fingerprint = "a"};
  ASSERT_TRUE(wait_for(store().create(first)));
  ASSERT_TRUE(wait_for(store().create(run_with_blobs(2, {blob("h2", "both")}))));
  const std::int64_t epoch = store().epoch();
  ASSERT_TRUE(append(last_commit(1, epoch, events_segment(1, 1, 1))));
  ASSERT_TRUE(append(last_commit(2, epoch, events_segment(1, 1, 1))));

  EXPECT_EQ(remove(store(), {run_id(1)}), 1U);

  EXPECT_FALSE(exists(1));
  EXPECT_EQ(listed(store(), everything()), std::vector{run_id(2)});
  EXPECT_EQ(listed(store(), with_status(RunStatus::succeeded)), std::vector{run_id(2)});
  EXPECT_EQ(listed(store(), with_metadata({{"team", "red"}})), std::vector<RunId>());
  EXPECT_EQ(wait_for(store().create(keyed_run(3, "k", "b"))).value().kind, Creation::created)
      << "the key is free";
  prune_all(store(), {.segments_max = 100});
  EXPECT_EQ(log(1, -1, 1 << 20), std::vector<Segment>());
  EXPECT_EQ(blob_of(store(), 1, "h1"), "not_found");
  EXPECT_EQ(blob_of(store(), 2, "h2"), "both");
  reopen();
  EXPECT_FALSE(exists(1));
  EXPECT_EQ(remove(store(), {run_id(1)}), 0U) << "it is gone";
}

// A record about a run, and one of another kind with the same id.
inline void put_records_of(Store& store, int run) {
  std::vector<RecordChange> changes;
  for (std::string_view kind : {kRunRecordKind, std::string_view("note")}) {
    changes.push_back(
        {.key = {.workspace = workspace(), .kind = std::string(kind), .id = run_id(run).str()},
         .body = "{}"});
  }
  ASSERT_TRUE(wait_for(store.change_records(std::move(changes))));
}

inline std::vector<std::string> ids_of_kind(Store& store, std::string_view kind) {
  std::vector<std::string> ids;
  auto records =
      wait_for(store.list_records({.workspace = workspace(), .kind = std::string(kind)})).value();
  for (const Record& record : records) ids.push_back(record.key.id);
  return ids;
}

TEST_P(StoreContract, TheRecordsOfARunGoWithIt) {
  for (int run : {1, 2, 3}) {
    create(run);
    put_records_of(store(), run);
  }
  for (int run : {1, 2}) {
    ASSERT_TRUE(append(last_commit(run, store().epoch(), events_segment(1, 1, 1))));
  }

  EXPECT_EQ(remove(store(), {run_id(1), run_id(3)}), 1U);
  EXPECT_EQ(ids_of_kind(store(), kRunRecordKind), (std::vector{run_id(2).str(), run_id(3).str()}));
  prune_all(store(), {.ended_before = StoreTime::max(), .segments_max = 100});
  EXPECT_EQ(ids_of_kind(store(), kRunRecordKind), std::vector{run_id(3).str()});
  EXPECT_EQ(ids_of_kind(store(), "note").size(), 3U);
}

TEST_P(StoreContract, OnlyEndedRunsOfTheWorkspaceAreRemoved) {
  create(1);
  create(2);
  ASSERT_TRUE(wait_for(store().create(new_run_in("other", 3))));
  Commit ends = last_commit(3, store().epoch(), events_segment(1, 1, 1));
  ends.key.workspace = workspace("other");
  ASSERT_TRUE(append(ends));
  ASSERT_TRUE(append(last_commit(2, store().epoch(), events_segment(1, 1, 1))));

  EXPECT_EQ(remove(store(), {run_id(1), run_id(2), run_id(3), run_id(4)}), 1U);

  EXPECT_TRUE(exists(1)) << "unfinished";
  EXPECT_FALSE(exists(2));
  EXPECT_TRUE(wait_for(store().find(run_key(3, "other")))) << "another workspace's";
}

TEST_P(StoreContract, ARunOfANewerFormatIsNotRemovedOnRequest) {
  NewRun run = newer_run(1);
  run.row.status = RunStatus::succeeded;
  ASSERT_TRUE(wait_for(store().create(run)));

  EXPECT_EQ(remove(store(), {run_id(1)}), 0U);
  EXPECT_TRUE(exists(1));
}

TEST_P(StoreContract, TheHistoryOutlivesARemovedRun) {
  start_session(store(), 1);
  ASSERT_TRUE(append(
      with_history(last_commit(1, store().epoch(), events_segment(1, 1, 1)), {"one", "two"})));

  EXPECT_EQ(remove(store(), {run_id(1)}), 1U);

  EXPECT_EQ(session_runs(store(), session_key(1)), std::vector<RunId>());
  EXPECT_EQ(history(store(), 1).size(), 2U);
}

TEST_P(StoreContract, ARemovedSessionLeavesNothing) {
  NewSession session = new_session(1);
  session.row.metadata = R"({"team":"red"})";
  ASSERT_TRUE(wait_for(store().create_session(session)));
  ASSERT_TRUE(wait_for(store().create_session(new_session(2))));
  ASSERT_EQ(create_told(store(), session_run(1)), "has the turn");
  EXPECT_EQ(remove_told(store(), 1), "conflict") << "it is active";
  ASSERT_TRUE(
      append(with_history(last_commit(1, store().epoch(), events_segment(1, 1, 1)), {"one"})));
  ASSERT_TRUE(wait_for(store().end_session(session_key(1), "over")));
  EXPECT_EQ(remove_told(store(), 1), "conflict") << "it has a run";
  EXPECT_EQ(remove_told(store(), 1, "other"), "not_found");
  ASSERT_EQ(remove(store(), {run_id(1)}), 1U);

  EXPECT_EQ(remove_told(store(), 1), "removed");

  EXPECT_EQ(remove_told(store(), 1), "not_found");
  reopen();
  EXPECT_EQ(wait_for(store().find_session(session_key(1))).error().code(), ErrorCode::not_found);
  EXPECT_EQ(wait_for(store().read_history(session_key(1), 0, 9, 100)).error().code(),
            ErrorCode::not_found);
  EXPECT_EQ(found(store(), SessionFilter{.workspace = workspace()}), std::vector{session_id(2)});
  EXPECT_EQ(found(store(), {.workspace = workspace(), .metadata = {{"team", "red"}}}),
            std::vector<SessionId>());
  EXPECT_EQ(counted(store(), {.workspace = workspace()}), 1);
  ASSERT_TRUE(wait_for(store().create_session(new_session(1)))) << "nothing of it is left";
  EXPECT_EQ(history(store(), 1), std::vector<SessionEntry>());
}

}  // namespace errand
