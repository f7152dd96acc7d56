#pragma once

// The part of the contract about sessions: how they begin and end.

#include "store/store_contract_growth.hpp"
#include "store/store_contract_session_setup.hpp"

namespace errand {

using namespace store_contract;

TEST_P(StoreContract, ANewSessionIsActiveUnusedAndEmpty) {
  NewSession session = new_session(1);
  const SessionRow expected = session.row;
  session.row.status = SessionStatus::ended;
  session.row.last_used_at = from_millis(1);
  session.row.ended_at = from_millis(2);
  session.row.entries = 3;
  session.row.current = run_id(4);
  session.row.queued = 5;

  auto outcome = wait_for(store().create_session(session)).value();
  const SessionRow before = find_session(store(), 1);
  reopen();

  EXPECT_EQ(outcome.kind, Creation::created);
  EXPECT_EQ(outcome.session, session_id(1));
  EXPECT_EQ(before, expected);
  EXPECT_EQ(find_session(store(), 1), expected);
  EXPECT_EQ(history(store(), 1), std::vector<SessionEntry>());
}

TEST_P(StoreContract, ASessionThatIsNotThereIsNotFound) {
  EXPECT_EQ(wait_for(store().find_session(session_key(1))).error().code(), ErrorCode::not_found);
  EXPECT_EQ(wait_for(store().read_history(session_key(1), 0, 9, 100)).error().code(),
            ErrorCode::not_found);
  EXPECT_EQ(wait_for(store().end_session(session_key(1), "x")).error().code(),
            ErrorCode::not_found);
  EXPECT_EQ(session_runs(store(), session_key(1)), std::vector<RunId>());
}

TEST_P(StoreContract, EqualRequestsForASessionMakeOne) {
  std::vector<Task<Result<CreateSessionOutcome>>> calls;
  for (int i = 1; i <= 20; ++i) calls.push_back(store().create_session(keyed_session(i, "k", "a")));
  auto results = wait_for_all(std::move(calls));

  std::size_t created = 0;
  for (const auto& result : results) {
    created += result.value().kind == Creation::created ? 1U : 0U;
    EXPECT_EQ(result.value().session, results[0].value().session);
  }
  EXPECT_EQ(created, 1U);
  EXPECT_EQ(wait_for(store().count_sessions({.workspace = workspace()})).value(), 1);
}

TEST_P(StoreContract, AnotherRequestWithTheKeyOfASessionConflicts) {
  ASSERT_TRUE(wait_for(store().create_session(keyed_session(1, "k", "a"))));
  ASSERT_TRUE(wait_for(store().create(keyed_run(1, "of a run", "a"))));

  EXPECT_EQ(wait_for(store().create_session(keyed_session(2, "k", "b"))).value().kind,
            Creation::conflict);
  EXPECT_EQ(wait_for(store().create_session(keyed_session(2, "of a run", "a"))).value().kind,
            Creation::conflict);
  EXPECT_EQ(wait_for(store().create(keyed_run(2, "k", "b"))).value().kind, Creation::conflict);
  EXPECT_EQ(wait_for(store().find_session(session_key(2))).error().code(), ErrorCode::not_found);

  clock().pass(kIdempotencyKept);
  EXPECT_EQ(wait_for(store().create_session(keyed_session(2, "k", "b"))).value().kind,
            Creation::created);
}

TEST_P(StoreContract, ASessionWithAKnownIdConflictsAndItsKeyStaysNew) {
  ASSERT_TRUE(wait_for(store().create_session(new_session(1))));

  auto refused = wait_for(store().create_session(keyed_session(1, "k", "a")));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  EXPECT_EQ(wait_for(store().create_session(keyed_session(2, "k", "b"))).value().kind,
            Creation::created);
}

TEST_P(StoreContract, TheEndOfASessionCancelsItsUnfinishedRuns) {
  start_session(store(), 3);
  create_told(store(), session_run(4, WhenBusy::interrupt));
  cancel_run(store(), 1);
  ASSERT_EQ(mail(cancel_request(3)), MailOutcome::accepted);
  clock().jump(seconds(5));

  EndedSession ended = wait_for(store().end_session(session_key(1), "over")).value();

  EXPECT_TRUE(ended.was_active);
  EXPECT_EQ(ended.cancelled, (std::vector{run_id(4), run_id(2), run_id(3)}));
  SessionRow expected = session_row(new_session(1).row, 4, 2, 9001);
  expected.status = SessionStatus::ended;
  expected.ended_at = from_millis(kStart + 5000);
  EXPECT_EQ(find_session(store(), 1), expected);
  Mailbox box = cancel_box(2, "over");
  box.opened_at = from_millis(kStart + 5000);
  EXPECT_EQ(mailboxes(2), std::vector{box});
  EXPECT_EQ(mailboxes(3), std::vector{cancel_box(3, "{}")}) << "the first cancel stays";
  EXPECT_EQ(cancel_run(store(), 4), run_id(2)) << "the turn goes on";
}

TEST_P(StoreContract, ASessionEndsOnce) {
  start_session(store(), 1);
  ASSERT_TRUE(wait_for(store().end_session(session_key(1), "over")));
  const SessionRow before = find_session(store(), 1);
  clock().jump(seconds(5));
  reopen();

  EndedSession again = wait_for(store().end_session(session_key(1), "again")).value();

  EXPECT_FALSE(again.was_active);
  EXPECT_EQ(again.cancelled, std::vector<RunId>());
  EXPECT_EQ(find_session(store(), 1), before);
  EXPECT_EQ(mailboxes(1), std::vector{cancel_box(1, "over")});
}

TEST_P(StoreContract, TheEndOfAnIdleSessionCancelsNobody) {
  start_session(store(), 1);
  end_run(store(), 1);

  EndedSession ended = wait_for(store().end_session(session_key(1), "over")).value();

  EXPECT_TRUE(ended.was_active);
  EXPECT_EQ(ended.cancelled, std::vector<RunId>());
}

TEST_P(StoreContract, ARunOfANewerFormatGetsNoCancelFromItsSession) {
  ASSERT_TRUE(wait_for(store().create_session(new_session(1))));
  NewRun newer = session_run(1);
  newer.row.format = kRunFormat + 1;
  ASSERT_EQ(create_told(store(), newer), "has the turn");

  EXPECT_EQ(create_told(store(), session_run(2, WhenBusy::interrupt)), "waits");
  EXPECT_EQ(wait_for(store().end_session(session_key(1), "over")).value().cancelled,
            std::vector{run_id(2)});

  EXPECT_EQ(mailboxes(1), std::vector<Mailbox>());
}

TEST_P(StoreContract, ARunThatIsRemovedLeavesItsSessionAndTheHistory) {
  start_session(store(), 2);
  Commit end = last_commit(1, store().epoch(), events_segment(1, 1, 1));
  end.effects.history = {"hello"};
  ASSERT_TRUE(append(end));
  const SessionRow before = find_session(store(), 1);

  ASSERT_EQ(prune_all(store(), everything_ended(store(), 100)), 1U);

  EXPECT_FALSE(exists(1));
  EXPECT_EQ(session_runs(store(), session_key(1)), std::vector{run_id(2)});
  EXPECT_EQ(find_session(store(), 1), before);
  EXPECT_EQ(history(store(), 1),
            (std::vector<SessionEntry>{{.n = 1, .run = run_id(1), .body = "hello"}}));
}

}  // namespace errand
