#pragma once

// The part of the contract about turns: which run of a session has it, and which runs wait.

#include "store/store_contract_blobs.hpp"
#include "store/store_contract_lists.hpp"
#include "store/store_contract_owners.hpp"
#include "store/store_contract_session_setup.hpp"

namespace errand {

using namespace store_contract;

TEST_P(StoreContract, TheFirstRunOfASessionHasTheTurn) {
  ASSERT_TRUE(wait_for(store().create_session(new_session(1))));
  RunRow expected = session_run(1).row;
  expected.segments = 1;
  expected.epoch = store().epoch();
  expected.session = session_id(1);

  EXPECT_EQ(create_told(store(), session_run(1)), "has the turn");

  EXPECT_EQ(find(1), expected);
  EXPECT_EQ(find_session(store(), 1), session_row(new_session(1).row, 1, 0, 5001));
}

TEST_P(StoreContract, RunsOfABusySessionWaitAndGetTheTurnInTheirOrder) {
  ASSERT_TRUE(wait_for(store().create_session(new_session(1))));
  for (int number : {1, 4, 2, 3}) create_told(store(), session_run(number));
  const SessionRow row = new_session(1).row;
  EXPECT_EQ(find(4).status, RunStatus::queued);
  EXPECT_EQ(find_session(store(), 1), session_row(row, 1, 3, 5003));

  EXPECT_EQ(end_run(store(), 1), run_id(4));
  EXPECT_EQ(find(4).status, RunStatus::queued) << "until it starts";
  EXPECT_EQ(find(2).status, RunStatus::queued);
  EXPECT_EQ(find_session(store(), 1), session_row(row, 4, 2, 9001));

  EXPECT_EQ(end_run(store(), 4), run_id(2));
  EXPECT_EQ(end_run(store(), 2), run_id(3));
  EXPECT_EQ(end_run(store(), 3), std::nullopt);
  EXPECT_EQ(find_session(store(), 1), session_row(row, {}, 0, 9001));
  EXPECT_EQ(create_told(store(), session_run(5)), "has the turn");
}

TEST_P(StoreContract, ACommitThatDoesNotEndItsRunKeepsTheTurn) {
  start_session(store(), 2);

  auto appended =
      wait_for(store().append(commit_of(1, store().epoch(), events_segment(1, 1, 1)))).value();

  EXPECT_EQ(appended.started, std::nullopt);
  EXPECT_EQ(find_session(store(), 1), session_row(new_session(1).row, 1, 1, 5002));
}

TEST_P(StoreContract, TheEndOfARunStartsNobodyInOtherSessions) {
  start_session(store(), 2);
  ASSERT_TRUE(wait_for(store().create_session(new_session(2))));
  NewRun of_second = session_run(3);
  of_second.session->session = session_id(2);
  ASSERT_EQ(create_told(store(), of_second), "has the turn");
  create(4);

  EXPECT_EQ(end_run(store(), 3), std::nullopt);
  EXPECT_EQ(end_run(store(), 4), std::nullopt);

  EXPECT_EQ(find(2).status, RunStatus::queued);
  EXPECT_EQ(find(4).session, SessionId());
  EXPECT_EQ(find_session(store(), 1), session_row(new_session(1).row, 1, 1, 5002));
}

TEST_P(StoreContract, OfManyRunsAtOnceOneHasTheTurnAndOnlySoManyWait) {
  ASSERT_TRUE(wait_for(store().create_session(new_session(1))));
  std::vector<Task<Result<CreateOutcome>>> calls;
  for (int number = 1; number <= 10; ++number) {
    calls.push_back(store().create(session_run(number)));
  }
  std::vector<std::string> outcomes;
  for (const auto& result : wait_for_all(std::move(calls))) outcomes.push_back(told(result));

  std::sort(outcomes.begin(), outcomes.end());
  EXPECT_EQ(outcomes, (std::vector<std::string>{"has the turn", "queue_full", "queue_full",
                                                "queue_full", "queue_full", "queue_full",
                                                "queue_full", "waits", "waits", "waits"}));
}

TEST_P(StoreContract, ARunThatWouldWaitIsRefusedIfItShallNot) {
  start_session(store(), 1);

  EXPECT_EQ(create_told(store(), session_run(2, WhenBusy::reject)), "session_busy");
  EXPECT_EQ(end_run(store(), 1), std::nullopt);
  EXPECT_EQ(create_told(store(), session_run(2, WhenBusy::reject)), "has the turn");
}

TEST_P(StoreContract, ARunIsRefusedByAFullQueueUntilSomebodyLeavesIt) {
  start_session(store(), 1 + static_cast<int>(kQueuedMax));

  EXPECT_EQ(create_told(store(), session_run(9)), "queue_full");
  EXPECT_EQ(create_told(store(), session_run(9, WhenBusy::interrupt)), "queue_full");
  EXPECT_EQ(create_told(store(), session_run(9, WhenBusy::reject)), "session_busy");
  EXPECT_EQ(mailboxes(1), std::vector<Mailbox>()) << "a refused run interrupts nobody";
  end_run(store(), 1);
  EXPECT_EQ(create_told(store(), session_run(9)), "waits");
}

TEST_P(StoreContract, ARunOfAnUnknownOrEndedSessionIsRefused) {
  EXPECT_EQ(create_told(store(), session_run(1)), "unknown_session");
  ASSERT_TRUE(wait_for(store().create_session(new_session(1))));
  ASSERT_TRUE(wait_for(store().end_session(session_key(1), "over")));

  EXPECT_EQ(create_told(store(), session_run(1)), "session_ended");
  EXPECT_EQ(create_told(store(), session_run(1, WhenBusy::interrupt)), "session_ended");
  EXPECT_FALSE(exists(1));
}

TEST_P(StoreContract, ARefusedRunLeavesNothing) {
  start_session(store(), 1);
  NewRun refused = keyed_session_run(2, "k");
  refused.session->when_busy = WhenBusy::reject;
  refused.row.metadata = R"({"team":"red"})";
  refused.effects.open = {open_mailbox(2, "tu_a")};
  refused.effects.blobs = {blob("h1", "a")};
  const SessionRow before = find_session(store(), 1);

  ASSERT_EQ(create_told(store(), refused), "session_busy");

  EXPECT_FALSE(exists(2));
  EXPECT_EQ(find_session(store(), 1), before);
  EXPECT_EQ(pending({}), std::vector<std::string>());
  EXPECT_EQ(session_runs(store(), session_key(1)), std::vector{run_id(1)});
  EXPECT_EQ(wait_for(store().list({.workspace = workspace(), .metadata = {{"team", "red"}}}))
                .value()
                .size(),
            0U);
  EXPECT_EQ(wait_for(store().create(run_with_blobs(3, {shared_blob("h1")}))).error().code(),
            ErrorCode::not_found);
  end_run(store(), 1);
  EXPECT_EQ(create_told(store(), refused), "has the turn") << "its key is as new";
}

TEST_P(StoreContract, AnEqualRequestFindsItsRunWhateverBecameOfTheSession) {
  start_session(store(), 1);
  ASSERT_EQ(create_told(store(), keyed_session_run(2, "k")), "waits");
  const SessionRow before = find_session(store(), 1);
  NewRun again = keyed_session_run(3, "k");
  again.session->when_busy = WhenBusy::interrupt;

  EXPECT_EQ(create_told(store(), again), "existing run_1002");
  again.session->when_busy = WhenBusy::reject;
  EXPECT_EQ(create_told(store(), again), "existing run_1002");
  EXPECT_EQ(find_session(store(), 1), before);
  EXPECT_EQ(mailboxes(1), std::vector<Mailbox>());

  ASSERT_TRUE(wait_for(store().end_session(session_key(1), "over")));
  EXPECT_EQ(create_told(store(), again), "existing run_1002");
  again.idempotency.fingerprint = "other";
  EXPECT_EQ(create_told(store(), again), "conflict");
}

TEST_P(StoreContract, ARunThatInterruptsIsNextAndTheLatestOfThemFirst) {
  start_session(store(), 2);

  EXPECT_EQ(create_told(store(), session_run(3, WhenBusy::interrupt)),
            "waits, interrupts run_1001");
  EXPECT_EQ(create_told(store(), session_run(4, WhenBusy::interrupt)), "waits")
      << "it was interrupted before";

  EXPECT_EQ(mailboxes(1), std::vector{cancel_box(1, "make way for 3")});
  EXPECT_EQ(find(3).status, RunStatus::queued);
  EXPECT_EQ(cancel_run(store(), 1), run_id(4));
  EXPECT_EQ(end_run(store(), 4), run_id(3));
  EXPECT_EQ(end_run(store(), 3), run_id(2));
}

TEST_P(StoreContract, ARunThatIsCancelledAlreadyKeepsItsCancelWhenItIsInterrupted) {
  start_session(store(), 1);
  ASSERT_EQ(mail(cancel_request(1)), MailOutcome::accepted);

  EXPECT_EQ(create_told(store(), session_run(2, WhenBusy::interrupt)), "waits");

  EXPECT_EQ(mailboxes(1), std::vector{cancel_box(1, "{}")});
}

TEST_P(StoreContract, ARunThatInterruptsNobodyHasTheTurn) {
  ASSERT_TRUE(wait_for(store().create_session(new_session(1))));

  EXPECT_EQ(create_told(store(), session_run(1, WhenBusy::interrupt)), "has the turn");
}

TEST_P(StoreContract, AnInterruptedRunEndsOnlyWithACommitThatFoldsTheCancel) {
  start_session(store(), 1);
  create_told(store(), session_run(2, WhenBusy::interrupt));
  Commit end = last_commit(1, store().epoch(), events_segment(1, 1, 1));
  end.effects.history = {"lost"};
  const SessionRow before = find_session(store(), 1);

  EXPECT_EQ(refusal(end), CommitRefusal::mail_waiting);

  EXPECT_EQ(find_session(store(), 1), before);
  EXPECT_EQ(history(store(), 1), std::vector<SessionEntry>());
  EXPECT_EQ(find(2).status, RunStatus::queued);
  EXPECT_EQ(cancel_run(store(), 1), run_id(2));
}

TEST_P(StoreContract, ARefusedEndGivesNoTurnOn) {
  start_session(store(), 2);
  Commit stale = last_commit(1, store().epoch() - 1, events_segment(1, 1, 1));
  stale.effects.history = {"lost"};
  Commit elsewhere = last_commit(1, store().epoch(), events_segment(2, 2, 1));
  elsewhere.effects.history = {"lost"};
  const SessionRow before = find_session(store(), 1);

  EXPECT_EQ(refusal(stale), CommitRefusal::stale_epoch);
  EXPECT_EQ(refusal(elsewhere), CommitRefusal::not_at_end);

  EXPECT_EQ(find_session(store(), 1), before);
  EXPECT_EQ(find(2).status, RunStatus::queued);
  EXPECT_EQ(history(store(), 1), std::vector<SessionEntry>());
  EXPECT_EQ(end_run(store(), 1), run_id(2));
}

TEST_P(StoreContract, TheTurnIsGivenOnOnce) {
  start_session(store(), 3);
  ASSERT_EQ(end_run(store(), 1), run_id(2));

  EXPECT_EQ(refusal(last_commit(1, store().epoch(), events_segment(2, 2, 1))),
            CommitRefusal::not_at_end);

  EXPECT_EQ(find_session(store(), 1).current, run_id(2));
}

TEST_P(StoreContract, ARunThatEndsBeforeItsTurnLeavesTheQueue) {
  start_session(store(), 4);
  ASSERT_EQ(mail(cancel_request(3)), MailOutcome::accepted);

  EXPECT_EQ(cancel_run(store(), 3), std::nullopt);

  EXPECT_EQ(find(3).status, RunStatus::cancelled);
  EXPECT_EQ(find_session(store(), 1), session_row(new_session(1).row, 1, 2, 9001));
  EXPECT_EQ(end_run(store(), 1), run_id(2));
  EXPECT_EQ(end_run(store(), 2), run_id(4));
}

TEST_P(StoreContract, ARunThatIsCancelledWhileItWaitsStillGetsItsTurn) {
  start_session(store(), 2);
  ASSERT_EQ(mail(cancel_request(2)), MailOutcome::accepted);

  EXPECT_EQ(end_run(store(), 1), run_id(2));

  EXPECT_EQ(find_session(store(), 1).current, run_id(2));
  EXPECT_EQ(find(2).status, RunStatus::queued);
  EXPECT_EQ(mailboxes(2), std::vector{cancel_box(2, "{}")});
}

TEST_P(StoreContract, AStartedRunIsOwnedByWhoeverEndedTheOneBeforeIt) {
  start_session(store(), 2);
  const RunRow before = find(2);
  reopen();
  ASSERT_EQ(ids(claim_page({.limit = 1}).runs), std::vector{run_id(1)});
  RunRow expected = before;
  expected.epoch = store().epoch();

  ASSERT_EQ(end_run(store(), 1), run_id(2));

  EXPECT_GT(expected.epoch, before.epoch);
  EXPECT_EQ(find(2), expected);
  EXPECT_EQ(end_run(store(), 2), std::nullopt);
}

TEST_P(StoreContract, ARunThatHasTheTurnIsQueuedUntilItsFirstCommit) {
  start_session(store(), 3);
  ASSERT_EQ(end_run(store(), 1), run_id(2));
  EXPECT_EQ(listed(store(), with_status(RunStatus::queued)), (std::vector{run_id(3), run_id(2)}));
  EXPECT_EQ(listed(store(), with_status(RunStatus::running)), std::vector<RunId>());

  ASSERT_TRUE(is_appended(
      wait_for(store().append(commit_of(2, store().epoch(), events_segment(1, 1, 1))))));

  EXPECT_EQ(find(2).status, RunStatus::running);
  EXPECT_EQ(find_session(store(), 1).current, run_id(2));
  EXPECT_EQ(listed(store(), with_status(RunStatus::queued)), std::vector{run_id(3)});
  EXPECT_EQ(listed(store(), with_status(RunStatus::running)), std::vector{run_id(2)});
}

TEST_P(StoreContract, AReleasedRunThatWaitsGetsItsTurn) {
  start_session(store(), 2);
  ASSERT_TRUE(wait_for(store().release(run_key(2), store().epoch())));

  EXPECT_EQ(end_run(store(), 1), run_id(2));

  EXPECT_EQ(find(2).epoch, store().epoch());
}

TEST_P(StoreContract, RunsThatWaitForTheirTurnAreCounted) {
  auto count = [this] { return wait_for(store().count_waiting_for_turn()).value(); };
  EXPECT_EQ(count(), 0);
  start_session(store(), 3);
  NewSession theirs = new_session(2, "other");
  ASSERT_TRUE(wait_for(store().create_session(theirs)));
  for (int number : {4, 5}) {
    NewRun run = session_run(number);
    run.row.workspace = workspace("other");
    run.session->session = session_id(2);
    create_told(store(), run);
  }
  create(6);
  EXPECT_EQ(count(), 3);
  ASSERT_EQ(end_run(store(), 1), run_id(2));
  EXPECT_EQ(count(), 2);
  reopen();
  EXPECT_EQ(count(), 2);
}

TEST_P(StoreContract, TheQueueOutlivesTheProcess) {
  start_session(store(), 3);
  create_told(store(), session_run(4, WhenBusy::interrupt));
  create(5);
  const SessionRow before = find_session(store(), 1);

  reopen();
  std::vector<std::string> claimed;
  for (const ClaimedRun& run : claim(10)) {
    claimed.push_back(cat(run.row.id.view(), " ", run.row.session.view(), " ",
                          to_string(run.row.status), " ", run.mail.size()));
  }

  EXPECT_EQ(claimed,
            (std::vector<std::string>{"run_1001 sess_1001 running 1", "run_1002 sess_1001 queued 0",
                                      "run_1003 sess_1001 queued 0", "run_1004 sess_1001 queued 0",
                                      "run_1005  queued 0"}));
  EXPECT_EQ(find_session(store(), 1), before);
  EXPECT_EQ(cancel_run(store(), 1), run_id(4));
  EXPECT_EQ(end_run(store(), 4), run_id(2));
  EXPECT_EQ(create_told(store(), session_run(6)), "waits");
  EXPECT_EQ(end_run(store(), 2), run_id(3));
  EXPECT_EQ(end_run(store(), 3), run_id(6));
}

}  // namespace errand
