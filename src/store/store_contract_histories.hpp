#pragma once

// The part of the contract about what sessions keep: their histories, lists of them and of their
// runs, and their workspaces.

#include "store/store_contract_blobs.hpp"
#include "store/store_contract_lists.hpp"
#include "store/store_contract_session_setup.hpp"

namespace errand {

using namespace store_contract;

inline Commit with_history(Commit commit, std::vector<std::string> bodies) {
  commit.effects.history = std::move(bodies);
  return commit;
}

inline std::vector<std::string> bodies(const std::vector<SessionEntry>& entries) {
  std::vector<std::string> out;
  for (const SessionEntry& entry : entries) out.push_back(entry.body);
  return out;
}

inline std::vector<std::string> history_page(Store& store, std::int64_t after, std::int64_t until,
                                             std::size_t bytes_max) {
  return bodies(wait_for(store.read_history(session_key(1), after, until, bytes_max)).value());
}

// Sessions by number that a filter finds.
inline std::vector<SessionId> found(Store& store, SessionFilter filter) {
  std::vector<SessionId> out;
  auto rows = wait_for(store.list_sessions(std::move(filter))).value();
  for (const SessionRow& row : rows) out.push_back(row.id);
  return out;
}

inline std::int64_t counted(Store& store, SessionFilter filter) {
  return wait_for(store.count_sessions(std::move(filter))).value();
}

inline void create_session_with(Store& store, int number, std::string metadata) {
  NewSession session = new_session(number);
  session.row.metadata = std::move(metadata);
  ASSERT_TRUE(wait_for(store.create_session(session)));
}

TEST_P(StoreContract, TheHistoryGrowsWithTheCommitsOfTheRunsThatHaveTheTurn) {
  start_session(store(), 2);
  const std::string binary("a\0\xff", 3);
  auto epoch = store().epoch();

  ASSERT_TRUE(append(with_history(commit_of(1, epoch, events_segment(1, 1, 1)), {"hi", binary})));
  ASSERT_TRUE(append(with_history(last_commit(1, epoch, events_segment(2, 2, 1)), {""})));
  ASSERT_TRUE(append(with_history(last_commit(2, epoch, events_segment(1, 1, 1)), {"you", "me"})));
  reopen();

  EXPECT_EQ(history(store(), 1),
            (std::vector<SessionEntry>{{.n = 1, .run = run_id(1), .body = "hi"},
                                       {.n = 2, .run = run_id(1), .body = binary},
                                       {.n = 3, .run = run_id(1), .body = ""},
                                       {.n = 4, .run = run_id(2), .body = "you"},
                                       {.n = 5, .run = run_id(2), .body = "me"}}));
  EXPECT_EQ(find_session(store(), 1).entries, 5);
  EXPECT_EQ(find_session(store(), 1).history_bytes, 10);
}

TEST_P(StoreContract, ARunThatHasTheTurnIsToldHowLongTheHistoryIs) {
  ASSERT_TRUE(wait_for(store().create_session(new_session(1))));
  auto created = [this](int number) {
    return wait_for(store().create(session_run(number))).value();
  };
  EXPECT_EQ(created(1).history, HistorySize());
  EXPECT_EQ(created(2).history, std::nullopt) << "it waits";
  ASSERT_TRUE(append(
      with_history(last_commit(1, store().epoch(), events_segment(1, 1, 1)), {"hello", "you"})));
  ASSERT_EQ(end_run(store(), 2), std::nullopt);
  EXPECT_EQ(created(3).history, (HistorySize{.entries = 2, .bytes = 8}));
  EXPECT_EQ(wait_for(store().create(new_run(4))).value().history, std::nullopt);
}

TEST_P(StoreContract, TheNewestEntriesOfAHistoryAreReadIfNotAllFit) {
  start_session(store(), 1);
  ASSERT_TRUE(append(with_history(commit_of(1, store().epoch(), events_segment(1, 1, 1)),
                                  {"11111", "22222", "33333", "44444"})));
  auto newest = [this](std::int64_t after, std::int64_t until, std::size_t bytes_max) {
    return bodies(
        wait_for(store().read_newest_history(session_key(1), after, until, bytes_max)).value());
  };

  EXPECT_EQ(newest(0, 4, 6), (std::vector<std::string>{"33333", "44444"}));
  EXPECT_EQ(newest(0, 3, 1), (std::vector<std::string>{"33333"}));
  EXPECT_EQ(newest(1, 9, 100), (std::vector<std::string>{"22222", "33333", "44444"}));
  EXPECT_EQ(newest(4, 9, 100), std::vector<std::string>());
  EXPECT_EQ(wait_for(store().read_newest_history(session_key(2), 0, 9, 100)).error().code(),
            ErrorCode::not_found);
}

TEST_P(StoreContract, AHistoryIsReadInPages) {
  start_session(store(), 1);
  ASSERT_TRUE(append(with_history(commit_of(1, store().epoch(), events_segment(1, 1, 1)),
                                  {"11111", "22222", "33333", "44444"})));

  using Page = std::vector<std::string>;
  EXPECT_EQ(history_page(store(), 0, 4, 1), Page{"11111"}) << "at least one";
  EXPECT_EQ(history_page(store(), 0, 4, 5), Page{"11111"});
  EXPECT_EQ(history_page(store(), 0, 4, 6), (Page{"11111", "22222"}));
  EXPECT_EQ(history_page(store(), 1, 3, 100), (Page{"22222", "33333"}));
  EXPECT_EQ(history_page(store(), 3, 3, 100), Page());
  EXPECT_EQ(history_page(store(), 4, 100, 100), Page());
  EXPECT_EQ(history_page(store(), 3, 100, 0), Page{"44444"});
}

TEST_P(StoreContract, OnlyTheRunThatHasTheTurnAddsToTheHistory) {
  start_session(store(), 2);
  create(3);
  auto epoch = store().epoch();
  const RunRow waiting = find(2);
  const RunRow of_none = find(3);

  auto refused = wait_for(
      store().append(with_history(commit_of(2, epoch, events_segment(1, 1, 1)), {"too early"})));
  auto at_end = wait_for(
      store().append(with_history(last_commit(2, epoch, events_segment(1, 1, 1)), {"too early"})));
  auto elsewhere = wait_for(
      store().append(with_history(last_commit(3, epoch, events_segment(1, 1, 1)), {"nowhere"})));
  auto stale = with_history(commit_of(3, epoch - 1, events_segment(1, 1, 1)), {"nowhere"});

  EXPECT_EQ(refused.error().code(), ErrorCode::internal);
  EXPECT_EQ(at_end.error().code(), ErrorCode::internal);
  EXPECT_EQ(elsewhere.error().code(), ErrorCode::internal);
  EXPECT_EQ(refusal(stale), CommitRefusal::stale_epoch) << "a refusal comes first";
  EXPECT_EQ(find(2), waiting);
  EXPECT_EQ(find(3), of_none);
  EXPECT_EQ(history(store(), 1), std::vector<SessionEntry>());
}

TEST_P(StoreContract, ACommitThatNamesABlobThatIsNotThereLeavesNoHistory) {
  start_session(store(), 2);
  Commit commit =
      with_history(last_commit(1, store().epoch(), events_segment(1, 1, 1)), {"an image"});
  commit.effects.blobs = {shared_blob("h1")};
  const SessionRow before = find_session(store(), 1);

  EXPECT_EQ(wait_for(store().append(commit)).error().code(), ErrorCode::not_found);

  EXPECT_EQ(find_session(store(), 1), before);
  EXPECT_EQ(history(store(), 1), std::vector<SessionEntry>());
}

TEST_P(StoreContract, CommitsOfOneBatchAddToEachHistoryInTheirOrder) {
  start_session(store(), 2);
  ASSERT_TRUE(wait_for(store().create_session(new_session(2))));
  NewRun of_second = session_run(3);
  of_second.session->session = session_id(2);
  ASSERT_EQ(create_told(store(), of_second), "has the turn");
  auto epoch = store().epoch();

  std::vector<Task<Result<Appended>>> batch;
  batch.push_back(
      store().append(with_history(last_commit(1, epoch, events_segment(1, 1, 1)), {"one"})));
  batch.push_back(
      store().append(with_history(last_commit(2, epoch - 1, events_segment(1, 1, 1)), {"no"})));
  batch.push_back(
      store().append(with_history(last_commit(2, epoch, events_segment(1, 1, 1)), {"two"})));
  batch.push_back(
      store().append(with_history(last_commit(3, epoch, events_segment(1, 1, 1)), {"other"})));
  std::vector<std::optional<RunId>> started;
  for (const auto& result : wait_for_all(std::move(batch))) started.push_back(result->started);

  EXPECT_EQ(started, (std::vector<std::optional<RunId>>{run_id(2), {}, {}, {}}));
  EXPECT_EQ(bodies(history(store(), 1)), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(bodies(history(store(), 2)), std::vector<std::string>{"other"});
}

TEST_P(StoreContract, RunsSayTheirSessionWhereverTheyAreRead) {
  start_session(store(), 2);
  create(3);
  auto sessions = [](const std::vector<RunRow>& rows) {
    std::vector<SessionId> out;
    for (const RunRow& row : rows) out.push_back(row.session);
    return out;
  };
  const SessionId none;
  const SessionId first = session_id(1);
  RunFilter succeeded = with_status(RunStatus::succeeded);
  ASSERT_EQ(end_run(store(), 1), run_id(2));

  EXPECT_EQ(find(1).session, first);
  EXPECT_EQ(sessions(wait_for(store().list(everything())).value()),
            (std::vector{none, first, first}));
  EXPECT_EQ(sessions(wait_for(store().list(succeeded)).value()), std::vector{first});
  EXPECT_EQ(sessions(wait_for(store().list(with_status(RunStatus::queued))).value()),
            (std::vector{none, first}));
  EXPECT_EQ(sessions(wait_for(store().all_runs({}, 10)).value()),
            (std::vector{first, first, none}));
}

TEST_P(StoreContract, ARunWithMetadataSaysItsSessionInLists) {
  start_session(store(), 0);
  NewRun run = session_run(1);
  run.row.metadata = R"({"team":"red"})";
  ASSERT_EQ(create_told(store(), run), "has the turn");

  EXPECT_EQ(wait_for(store().list(with_metadata({{"team", "red"}}))).value(), std::vector{find(1)});
  EXPECT_EQ(find(1).session, session_id(1));
}

TEST_P(StoreContract, TheRunsOfASessionAreListedNewestFirstAndByPage) {
  start_session(store(), 4);
  create(5);
  end_run(store(), 1);

  EXPECT_EQ(session_runs(store(), session_key(1)),
            (std::vector{run_id(4), run_id(3), run_id(2), run_id(1)}));
  EXPECT_EQ(session_runs(store(), session_key(1), run_id(4), 2),
            (std::vector{run_id(3), run_id(2)}));
  EXPECT_EQ(session_runs(store(), session_key(1), run_id(1)), std::vector<RunId>());
  EXPECT_EQ(wait_for(store().session_runs(session_key(1), run_id(2), 1)).value(),
            std::vector{find(1)});
}

TEST_P(StoreContract, RunsAreListedBySessionStatusAndMetadata) {
  start_session(store(), 3);
  NewRun labelled = session_run(4);
  labelled.row.metadata = R"({"team":"red"})";
  ASSERT_EQ(create_told(store(), labelled), "waits");
  NewRun elsewhere = new_run(5);
  elsewhere.row.metadata = R"({"team":"red"})";
  ASSERT_TRUE(wait_for(store().create(elsewhere)));
  ASSERT_EQ(end_run(store(), 1), run_id(2));
  RunFilter filter = everything();
  filter.session = session_id(1);

  EXPECT_EQ(listed(store(), filter), (std::vector{run_id(4), run_id(3), run_id(2), run_id(1)}));
  filter.limit = 2;
  filter.before = run_id(4);
  EXPECT_EQ(listed(store(), filter), (std::vector{run_id(3), run_id(2)}));
  filter = everything();
  filter.session = session_id(1);
  filter.status = RunStatus::succeeded;
  EXPECT_EQ(listed(store(), filter), std::vector{run_id(1)});
  filter.status = RunStatus::queued;
  EXPECT_EQ(listed(store(), filter), (std::vector{run_id(4), run_id(3), run_id(2)}));
  filter.metadata = {{"team", "red"}};
  EXPECT_EQ(listed(store(), filter), std::vector{run_id(4)});
  filter = everything();
  filter.session = session_id(2);
  EXPECT_EQ(listed(store(), filter), std::vector<RunId>());
}

TEST_P(StoreContract, SessionsAreListedByTheirLastUse) {
  for (int number = 1; number <= 4; ++number) {
    create_session_with(store(), number, number < 4 ? R"({"team":"red"})" : "{}");
  }
  NewRun run = session_run(1);  // of session 1, which is used last
  ASSERT_EQ(create_told(store(), run), "has the turn");
  SessionFilter filter{.workspace = workspace()};
  SessionFilter red{.workspace = workspace(), .metadata = {{"team", "red"}}};

  EXPECT_EQ(found(store(), filter),
            (std::vector{session_id(1), session_id(4), session_id(3), session_id(2)}));
  EXPECT_EQ(found(store(), red), (std::vector{session_id(1), session_id(3), session_id(2)}));
  for (SessionFilter* one : {&filter, &red}) one->before = find_session(store(), 1).place();
  EXPECT_EQ(found(store(), filter), (std::vector{session_id(4), session_id(3), session_id(2)}));
  EXPECT_EQ(found(store(), red), (std::vector{session_id(3), session_id(2)}));
  red.limit = 1;
  red.offset = 1;
  EXPECT_EQ(found(store(), red), std::vector{session_id(2)});
  filter.status = SessionStatus::active;
  EXPECT_EQ(found(store(), filter), (std::vector{session_id(4), session_id(3), session_id(2)}));
}

TEST_P(StoreContract, EveryUseOfASessionMovesItInListsByMetadata) {
  for (int number = 1; number <= 3; ++number) {
    create_session_with(store(), number, R"({"team":"red","tier":"gold"})");
  }
  SessionFilter both{.workspace = workspace(),
                     .status = SessionStatus::active,
                     .metadata = {{"team", "red"}, {"tier", "gold"}}};
  auto begin_with = [&](int first) {
    EXPECT_EQ(found(store(), both).front(), session_id(first));
    EXPECT_EQ(counted(store(), both), 3);
  };

  begin_with(3);
  ASSERT_EQ(create_told(store(), session_run(1)), "has the turn");
  begin_with(1);
  NewRun other = session_run(2);
  other.session->session = session_id(2);
  ASSERT_EQ(create_told(store(), other), "has the turn");
  begin_with(2);
  ASSERT_EQ(create_told(store(), session_run(3)), "waits");
  begin_with(1);
  end_run(store(), 2);
  begin_with(2);
  cancel_run(store(), 3);
  begin_with(2);
  reopen();
  begin_with(2);
}

TEST_P(StoreContract, SessionsAreListedByTheTimeOfTheirCreation) {
  for (int number = 1; number <= 5; ++number) {
    ASSERT_TRUE(wait_for(store().create_session(new_session(number))));
  }
  ASSERT_TRUE(wait_for(store().end_session(session_key(3), "over")));
  SessionFilter filter{.workspace = workspace()};
  filter.created = {.from = new_session(2).row.created_at,
                    .until = new_session(5).row.created_at,
                    .first = session_id(2).str(),
                    .last = session_id(5).str()};
  SessionFilter active = filter;
  active.status = SessionStatus::active;

  EXPECT_EQ(found(store(), filter), (std::vector{session_id(4), session_id(3), session_id(2)}));
  EXPECT_EQ(counted(store(), filter), 3);
  EXPECT_EQ(found(store(), active), (std::vector{session_id(4), session_id(2)}));
}

TEST_P(StoreContract, ManySessionsOfATimeAreListedByTheirLastUse) {
  for (int first = 1; first < 1200; first += 200) {
    std::vector<Task<Result<CreateSessionOutcome>>> calls;
    for (int number = first; number < first + 200; ++number) {
      NewSession session = new_session(number);
      if (number % 2 == 0) session.row.metadata = R"({"team":"red"})";
      calls.push_back(store().create_session(std::move(session)));
    }
    for (const auto& made : wait_for_all(std::move(calls))) ASSERT_TRUE(made);
  }
  for (int number : {106, 1190}) {
    NewRun run = session_run(1000 + number);
    run.session->session = session_id(number);
    ASSERT_EQ(create_told(store(), run), "has the turn");
  }
  SessionFilter filter{.workspace = workspace(), .limit = 3};
  filter.created = {.from = new_session(101).row.created_at,
                    .until = new_session(1151).row.created_at,
                    .first = session_id(101).str(),
                    .last = session_id(1160).str()};
  SessionFilter active = filter;
  active.status = SessionStatus::active;
  SessionFilter red = filter;
  red.metadata = {{"team", "red"}};
  SessionFilter second = filter;
  second.before = find_session(store(), 106).place();
  second.offset = 1;

  EXPECT_EQ(found(store(), filter),
            (std::vector{session_id(106), session_id(1150), session_id(1149)}));
  EXPECT_EQ(found(store(), active), found(store(), filter));
  EXPECT_EQ(found(store(), second),
            (std::vector{session_id(1149), session_id(1148), session_id(1147)}));
  EXPECT_EQ(found(store(), red),
            (std::vector{session_id(106), session_id(1150), session_id(1148)}));
  EXPECT_EQ(counted(store(), filter), 1050);
  EXPECT_EQ(counted(store(), active), 1050);
  EXPECT_EQ(counted(store(), red), 525);
  filter.offset = 1050;
  EXPECT_EQ(found(store(), filter), std::vector<SessionId>());
}

TEST_P(StoreContract, SessionsAreListedNewestFirstByCursorAndByOffset) {
  for (int number = 1; number <= 5; ++number) {
    ASSERT_TRUE(wait_for(store().create_session(new_session(number))));
  }
  SessionFilter filter{.workspace = workspace(), .limit = 2};

  EXPECT_EQ(found(store(), filter), (std::vector{session_id(5), session_id(4)}));
  filter.before = find_session(store(), 4).place();
  EXPECT_EQ(found(store(), filter), (std::vector{session_id(3), session_id(2)}));
  filter.offset = 1;
  EXPECT_EQ(found(store(), filter), (std::vector{session_id(2), session_id(1)}));
  EXPECT_EQ(counted(store(), filter), 5) << "whatever page";
  filter.before = {};
  filter.offset = 4;
  EXPECT_EQ(found(store(), filter), std::vector{session_id(1)});
  filter.offset = 5;
  EXPECT_EQ(found(store(), filter), std::vector<SessionId>());
}

TEST_P(StoreContract, AListHasWholeSessions) {
  start_session(store(), 3);
  ASSERT_TRUE(
      append(with_history(commit_of(1, store().epoch(), events_segment(1, 1, 1)), {"one", "two"})));

  auto rows = wait_for(store().list_sessions({.workspace = workspace()})).value();

  SessionRow expected = session_row(new_session(1).row, 1, 2, 5003);
  expected.entries = 2;
  expected.history_bytes = 6;
  EXPECT_EQ(rows, std::vector{expected});
}

TEST_P(StoreContract, SessionsAreListedAndCountedByStatusAndMetadata) {
  for (int number = 1; number <= 30; ++number) {
    create_session_with(store(), number,
                        cat(R"({"team":")", number % 2 ? "red" : "blue", R"(","size":")",
                            number % 3, R"(","n":)", number, "}"));
    if (number % 5) continue;
    ASSERT_TRUE(wait_for(store().end_session(session_key(number), "over")));
  }
  SessionFilter red{.workspace = workspace(), .metadata = {{"team", "red"}, {"size", "0"}}};
  SessionFilter ended{.workspace = workspace(), .status = SessionStatus::ended};
  SessionFilter both = red;
  both.status = SessionStatus::ended;
  SessionFilter active = red;
  active.status = SessionStatus::active;
  active.offset = 1;
  active.limit = 2;
  SessionFilter number{.workspace = workspace(), .metadata = {{"n", "7"}}};

  EXPECT_EQ(found(store(), red), (std::vector{session_id(27), session_id(21), session_id(15),
                                              session_id(9), session_id(3)}));
  EXPECT_EQ(counted(store(), red), 5);
  EXPECT_EQ(found(store(), ended), (std::vector{session_id(30), session_id(25), session_id(20),
                                                session_id(15), session_id(10), session_id(5)}));
  EXPECT_EQ(counted(store(), ended), 6);
  EXPECT_EQ(found(store(), both), std::vector{session_id(15)});
  EXPECT_EQ(counted(store(), both), 1);
  EXPECT_EQ(found(store(), active), (std::vector{session_id(21), session_id(9)}));
  EXPECT_EQ(counted(store(), active), 4);
  active.before = find_session(store(), 9).place();
  active.offset = 0;
  EXPECT_EQ(found(store(), active), std::vector{session_id(3)});
  EXPECT_EQ(found(store(), number), std::vector<SessionId>()) << "only text matches";
  EXPECT_EQ(counted(store(), number), 0);
}

TEST_P(StoreContract, SessionsOfTwoWorkspacesWithOneIdAreTwo) {
  ASSERT_TRUE(wait_for(store().create_session(new_session(1))));
  NewSession theirs = new_session(1, "other");
  theirs.row.metadata = R"({"team":"red"})";
  theirs.idempotency = {.key = "k", .fingerprint = "a"};
  ASSERT_TRUE(wait_for(store().create_session(theirs)));
  NewRun their_run = session_run(1);
  their_run.row.workspace = workspace("other");
  their_run.first.journal = "{\"theirs\":1}\n";

  EXPECT_EQ(create_told(store(), their_run), "has the turn");
  EXPECT_EQ(create_told(store(), session_run(2)), "has the turn");
  Commit commit = with_history(last_commit(1, store().epoch(), events_segment(1, 1, 1)), {"x"});
  commit.key.workspace = workspace("other");
  ASSERT_TRUE(append(commit));
  ASSERT_TRUE(wait_for(store().end_session(session_key(1, "other"), "over")));

  EXPECT_EQ(find_session(store(), 1), session_row(new_session(1).row, 2, 0, 5002));
  EXPECT_EQ(history(store(), 1), std::vector<SessionEntry>());
  EXPECT_EQ(mailboxes(2), std::vector<Mailbox>());
  EXPECT_EQ(session_runs(store(), session_key(1)), std::vector{run_id(2)});
  EXPECT_EQ(session_runs(store(), session_key(1, "other")), std::vector{run_id(1)});
  EXPECT_EQ(counted(store(), {.workspace = workspace()}), 1);
  EXPECT_EQ(counted(store(), {.workspace = workspace(), .status = SessionStatus::ended}), 0);
  EXPECT_EQ(counted(store(), {.workspace = workspace(), .metadata = {{"team", "red"}}}), 0);
  EXPECT_EQ(found(store(), {.workspace = workspace(), .metadata = {{"team", "red"}}}),
            std::vector<SessionId>());
  EXPECT_EQ(wait_for(store().create_session(keyed_session(2, "k", "a"))).value().kind,
            Creation::created)
      << "keys belong to their workspace, too";
}

TEST_P(StoreContract, ASessionOfAnotherWorkspaceIsNotFoundNorUsed) {
  start_session(store(), 1);
  ASSERT_TRUE(
      append(with_history(commit_of(1, store().epoch(), events_segment(1, 1, 1)), {"ours"})));
  const SessionRow before = find_session(store(), 1);
  const SessionKey elsewhere = session_key(1, "other");
  NewRun stranger = session_run(2, WhenBusy::interrupt);
  stranger.row.workspace = workspace("other");

  EXPECT_EQ(create_told(store(), stranger), "unknown_session");
  EXPECT_EQ(wait_for(store().find_session(elsewhere)).error().code(), ErrorCode::not_found);
  EXPECT_EQ(wait_for(store().read_history(elsewhere, 0, 9, 100)).error().code(),
            ErrorCode::not_found);
  EXPECT_EQ(wait_for(store().end_session(elsewhere, "x")).error().code(), ErrorCode::not_found);
  EXPECT_EQ(session_runs(store(), elsewhere), std::vector<RunId>());
  EXPECT_EQ(found(store(), {.workspace = workspace("other")}), std::vector<SessionId>());
  EXPECT_EQ(counted(store(), {.workspace = workspace("other")}), 0);

  EXPECT_EQ(find_session(store(), 1), before);
  EXPECT_EQ(mailboxes(1), std::vector<Mailbox>());
}

TEST_P(StoreContract, RunsOfAnotherWorkspaceDoNotGiveATurnOn) {
  start_session(store(), 2);
  Commit end = last_commit(1, store().epoch(), events_segment(1, 1, 1));
  end.key.workspace = workspace("other");

  EXPECT_EQ(refusal(end), CommitRefusal::stale_epoch);

  EXPECT_EQ(find_session(store(), 1).current, run_id(1));
}

}  // namespace errand
