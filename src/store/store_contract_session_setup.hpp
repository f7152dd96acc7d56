#pragma once

// Sessions and their runs, for tests of stores.

#include "store/store_contract.hpp"

namespace errand {

inline bool operator==(const SessionRow& a, const SessionRow& b) {
  auto tie = [](const SessionRow& row) {
    return std::tie(row.id, row.workspace, row.status, row.name, row.spec, row.metadata,
                    row.created_at, row.last_used_at, row.ended_at, row.entries, row.current,
                    row.queued, row.history_bytes);
  };
  return tie(a) == tie(b);
}

namespace store_contract {

inline SessionId session_id(int number) {
  return *SessionId::parse(cat("sess_", 1000 + number));
}
inline SessionKey session_key(int number, std::string_view in = "default") {
  return {.workspace = workspace(in), .session = session_id(number)};
}

inline NewSession new_session(int number, std::string_view in = "default") {
  return {.row = {.id = session_id(number),
                  .workspace = workspace(in),
                  .name = "a chat",
                  .spec = std::string("{\"spec\":\0}", 10),
                  .metadata = "{}",
                  .created_at = from_millis(4000 + number),
                  .last_used_at = from_millis(4000 + number)},
          .idempotency = {}};
}

inline NewSession keyed_session(int number, std::string key, std::string fingerprint) {
  NewSession session = new_session(number);
  session.idempotency = {.key = std::move(key), .fingerprint = std::move(fingerprint)};
  return session;
}

constexpr std::size_t kQueuedMax = 3;

// A run of session 1.
inline NewRun session_run(int number, WhenBusy when_busy = WhenBusy::queue) {
  NewRun run = new_run(number);
  run.row.status = RunStatus::running;
  run.session = {.session = session_id(1),
                 .when_busy = when_busy,
                 .queued_max = kQueuedMax,
                 .cancel_reason = cat("make way for ", number)};
  return run;
}

inline NewRun keyed_session_run(int number, std::string key) {
  NewRun run = session_run(number);
  run.idempotency = {.key = std::move(key), .fingerprint = "same"};
  return run;
}

inline std::string_view to_word(SessionRefusal refusal) {
  switch (refusal) {
    case SessionRefusal::unknown_session: return "unknown_session";
    case SessionRefusal::session_ended: return "session_ended";
    case SessionRefusal::session_busy: return "session_busy";
    case SessionRefusal::queue_full: return "queue_full";
  }
  return "?";
}

// What became of a new run, in words.
inline std::string told(const Result<CreateOutcome>& result) {
  const CreateOutcome& outcome = result.value();
  if (outcome.refused) return std::string(to_word(*outcome.refused));
  if (outcome.kind == Creation::existing) return cat("existing ", outcome.run.view());
  if (outcome.kind == Creation::conflict) return "conflict";
  std::string text = outcome.waits_for_turn ? "waits" : "has the turn";
  if (outcome.interrupted) append(text, ", interrupts ", outcome.interrupted->view());
  return text;
}

inline std::string create_told(Store& store, NewRun run) {
  return told(wait_for(store.create(std::move(run))));
}

inline SessionRow find_session(Store& store, int number) {
  return wait_for(store.find_session(session_key(number))).value();
}

inline std::vector<SessionEntry> history(Store& store, int number) {
  return wait_for(store.read_history(session_key(number), 0, 1'000'000, 1U << 30)).value();
}

// Ends a run that has written nothing but its first segment; gives the run that is started.
inline std::optional<RunId> end_run(Store& store, int number) {
  Commit end = last_commit(number, store.epoch(), events_segment(1, 1, 1));
  return wait_for(store.append(std::move(end))).value().started;
}

// The same for a run that has a cancel in its mailbox.
inline std::optional<RunId> cancel_run(Store& store, int number) {
  Commit end = last_commit(number, store.epoch(), events_segment(1, 1, 1));
  end.status = RunStatus::cancelled;
  end.effects.close = {"cancel"};
  return wait_for(store.append(std::move(end))).value().started;
}

inline Mailbox cancel_box(int number, std::string reason) {
  return {.run = run_id(number),
          .slot = "cancel",
          .kind = MailKind::cancel,
          .opened_at = from_millis(kStart),
          .filled = true,
          .body = std::move(reason)};
}

// Session 1 with runs 1 to `count`: the first has the turn, the others wait.
inline void start_session(Store& store, int count) {
  ASSERT_TRUE(wait_for(store.create_session(new_session(1))));
  for (int number = 1; number <= count; ++number) {
    ASSERT_EQ(create_told(store, session_run(number)), number == 1 ? "has the turn" : "waits");
  }
}

inline SessionRow session_row(SessionRow row, std::optional<int> current, std::int64_t queued,
                              std::int64_t last_used_at) {
  row.current = {};
  if (current) row.current = run_id(*current);
  row.queued = queued;
  row.last_used_at = from_millis(last_used_at);
  return row;
}

inline std::vector<RunId> session_runs(Store& store, const SessionKey& key,
                                       std::optional<RunId> before = {}, std::size_t limit = 50) {
  std::vector<RunId> out;
  auto rows = wait_for(store.session_runs(key, std::move(before), limit)).value();
  for (const RunRow& row : rows) {
    EXPECT_EQ(row.session, key.session);
    out.push_back(row.id);
  }
  return out;
}

}  // namespace store_contract

}  // namespace errand
