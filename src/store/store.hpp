#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "async/task.hpp"
#include "base/result.hpp"
#include "store/records.hpp"

namespace errand {

// Where runs are kept: an append-only log per run, mailboxes that anyone may write to, and
// projections of the logs that are written in the same transaction.
//
// Only the owner of a run appends to its log. Ownership is the `epoch`: the number of the process
// that owns the run, higher than the epoch of any process before it; a commit with another epoch is
// refused. A process keeps its runs by a lease that it renews; when the lease has run out, any
// other process may claim the runs. Everyone else writes mail.
//
// The store does not know what runs mean: journal, events and mail bodies are opaque bytes, save
// that `events` is one JSON object per line, one line per seq.

// What a store has done since it was opened.
struct StoreCounts {
  std::uint64_t commits = 0;
  std::uint64_t writes = 0;       // that these commits made durable
  std::uint64_t pages = 0;        // that these commits wrote
  std::size_t waiting_bytes = 0;  // of writes that wait for a commit
};

// Safe to call from any home; a call's result comes on the caller's home. Every call may fail with
// unavailable; only other codes are listed.
class Store {
 public:
  virtual ~Store() = default;

  // The epoch of this process.
  virtual std::int64_t epoch() const = 0;
  // The store's own clock, by which mailboxes and leases are measured.
  virtual StoreTime now() const = 0;

  // Decided by the unique (workspace, idempotency key) row: exactly one of many equal requests
  // creates. Durable when it returns. unavailable with reason "disk_full": there is so little room
  // left that it is kept for the runs that are there. not_found: a blob of another run that it
  // names is no longer there.
  virtual Task<Result<CreateOutcome>> create(NewRun run) = 0;

  // Appends one segment, with its effects. Durable when it returns; a refused commit has changed
  // nothing. Many runs' commits share one transaction. unavailable: nothing was changed.
  // outcome_unknown: it may have been appended; read the row before anything else. not_found: a
  // blob that it names without bytes is not there; nothing was changed. internal: it has entries
  // for a session's history, but its run does not have the turn; nothing was changed.
  virtual Task<Result<Appended>> append(Commit commit) = 0;

  // Fills a mailbox, first wins: an open one for an answer, an absent one for a request. While a
  // claim is in force, only mail with its id, or of the run's owner, fills the mailbox. Durable
  // when it returns `accepted`.
  virtual Task<Result<MailOutcome>> mail(Mail mail) = 0;

  // A claim is in force until its time is up, or the mailbox is gone; then another claim may be
  // made. A claim that has run out can still be extended, until another is made. Durable when it
  // returns.
  virtual Task<Result<CallClaimOutcome>> claim_call(CallClaim claim) = 0;
  virtual Task<Result<std::vector<Mailbox>>> pending_calls(CallFilter filter) = 0;

  // Takes over unfinished runs without an owner (never owned, or with a lease that has run out; on
  // one node: all runs of a former process), by workspace and age. Runs of a newer format are left
  // alone.
  virtual Task<Result<ClaimedRuns>> claim(ClaimRuns params) = 0;
  // Keeps this node's runs, and makes the store's clock known to the next process.
  virtual Task<Result<Renewal>> renew() = 0;
  // Gives a run up, so that another node may claim it. conflict: it is not owned with this epoch.
  virtual Task<Result<void>> release(RunKey run, std::int64_t epoch) = 0;
  // This process has stopped its runs on purpose: the process that claims them learns that they did
  // not kill this one.
  virtual Task<Result<void>> leave() = 0;

  // not_found: no such run.
  virtual Task<Result<RunRow>> find(RunKey run) = 0;
  // Newest first.
  virtual Task<Result<std::vector<RunRow>>> list(RunFilter filter) = 0;
  // Mailboxes of a run, filled or not.
  virtual Task<Result<std::vector<Mailbox>>> mailboxes(RunKey run) = 0;

  // Segments with events after `after`, in order, at least one if there is any, then until
  // `bytes_max` is passed. Only `events` is filled, `journal` is empty.
  virtual Task<Result<std::vector<SegmentPtr>>> read_events(RunKey run, EventSeq after,
                                                            std::size_t bytes_max) = 0;
  // Bytes that came with a run, or with mail to it. not_found: the run has none with this hash.
  virtual Task<Result<std::string>> read_blob(RunKey run, std::string hash) = 0;

  // For callers that look through everything: all runs by workspace and id, and whole segments.
  virtual Task<Result<std::vector<RunRow>>> all_runs(std::optional<RunKey> after,
                                                     std::size_t limit) = 0;
  // A page of a log (see LogPages): the segments after a seq, -1 for the whole log; at least one if
  // there is any, then until `bytes_max` is passed. Segments without events have the seq of the
  // last event before them, and are in the page of that event.
  virtual Task<Result<std::vector<SegmentPtr>>> read_log(RunKey run, EventSeq after,
                                                         std::size_t bytes_max) = 0;
  // The same pages with journals alone: `events` is empty, and its bytes do not count.
  virtual Task<Result<std::vector<SegmentPtr>>> read_journal(RunKey run, EventSeq after,
                                                             std::size_t bytes_max) = 0;

  // Removes some old rows, expired idempotency keys included, and gives the room back. Rows that
  // leave the lists first go for good in later steps, also of later processes. May also merge the
  // small segments of runs that ended a while ago. That changes the segments' `n` and their number,
  // but neither events, journal nor seqs: readers continue by seq. A caller that does step after
  // step goes on behind the last run that a step has `seen`: many runs may stay.
  virtual Task<Result<PruneOutcome>> prune(Prune prune) = 0;

  // Takes ended runs out of every list at once; their rows go for good in the steps of `prune`.
  // Runs that do not exist, have not ended or are of a newer format are left alone. Returns the
  // number of removed runs. Durable when it returns.
  virtual Task<Result<std::size_t>> remove_runs(WorkspaceSlug workspace,
                                                std::vector<RunId> runs) = 0;

  // Sessions: see store/sessions.hpp. Decided by the idempotency key like `create`.
  virtual Task<Result<CreateSessionOutcome>> create_session(NewSession session) = 0;
  // not_found: no such session.
  virtual Task<Result<SessionRow>> find_session(SessionKey session) = 0;
  virtual Task<Result<std::vector<SessionRow>>> list_sessions(SessionFilter filter) = 0;
  virtual Task<Result<std::int64_t>> count_sessions(SessionFilter filter) = 0;
  // How many runs of all sessions wait for their turn.
  virtual Task<Result<std::int64_t>> count_waiting_for_turn() = 0;
  // Entries with n in (after, until], in order, at least one if there is any, then until
  // `bytes_max` is passed. not_found: no such session.
  virtual Task<Result<std::vector<SessionEntry>>> read_history(SessionKey session,
                                                               std::int64_t after,
                                                               std::int64_t until,
                                                               std::size_t bytes_max) = 0;
  // The same for the newest entries: from `until` back until `bytes_max` is passed, in order.
  virtual Task<Result<std::vector<SessionEntry>>> read_newest_history(SessionKey session,
                                                                      std::int64_t after,
                                                                      std::int64_t until,
                                                                      std::size_t bytes_max) = 0;
  // No run is created in the session any more, and its unfinished runs are asked to stop, with
  // `reason` as the body of their cancel mail. not_found: no such session.
  virtual Task<Result<EndedSession>> end_session(SessionKey session, std::string reason) = 0;
  // Removes a session and its history. Its runs have to be removed before. not_found: no such
  // session. conflict: it has not ended, or runs of it are there.
  virtual Task<Result<void>> remove_session(SessionKey session) = 0;
  // The runs of a session, newest first: those before `before`, at most `limit`.
  virtual Task<Result<std::vector<RunRow>>> session_runs(SessionKey session,
                                                         std::optional<RunId> before,
                                                         std::size_t limit) = 0;

  // Records: see RecordChange. not_found: no such record.
  virtual Task<Result<RecordsOutcome>> change_records(std::vector<RecordChange> changes) = 0;
  virtual Task<Result<Record>> find_record(RecordKey key) = 0;
  // By id.
  virtual Task<Result<std::vector<Record>>> list_records(RecordFilter filter) = 0;

  // conflict: a key with this hash exists.
  virtual Task<Result<AddKeyOutcome>> add_key(ApiKeyRow key, Idempotency idempotency) = 0;
  virtual Task<Result<std::vector<ApiKeyRow>>> list_keys() = 0;
  // not_found: no such key in this workspace.
  virtual Task<Result<void>> revoke_key(WorkspaceSlug workspace, KeyId id, WallTime at) = 0;

  // Whether the store answers, for readiness.
  virtual Task<Result<void>> ping() = 0;

  // Safe to call from any thread. A store without a file counts nothing.
  virtual StoreCounts counts() const { return {}; }
};

}  // namespace errand
