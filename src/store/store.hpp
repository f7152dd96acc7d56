#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/task.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "run/ids.hpp"
#include "run/status.hpp"

namespace errand {

// Where runs are kept: an append-only log per run, mailboxes that anyone may write to, and
// projections of the logs that are written in the same transaction.
//
// Only the owner of a run appends to its log. Ownership is the `epoch`: a number that rises each
// time the run changes hands; an append with an older one fails. Everyone else writes mail.
//
// The store does not know what runs mean: journal, events and mail bodies are opaque bytes, save
// that `events` is one JSON object per line, one line per seq.

// Events and journal entries of one run that become durable together. At most kSegmentBytesMax of
// event text, unless a single event is larger.
struct Segment {
  EventSeq last_seq = 0;  // seq of the last event in it, or of the last one before it
  std::int32_t n = 0;     // position in the run's log: 0, 1, 2 ...
  std::int32_t events_count = 0;
  WallTime at{};
  std::string journal;  // journal entries, one JSON object per line; may be empty
  std::string events;   // events, one JSON object per line; may be empty

  EventSeq first_seq() const { return last_seq - events_count + 1; }
};
using SegmentPtr = std::shared_ptr<const Segment>;

constexpr std::size_t kSegmentBytesMax = 64 * 1024;

// The row of a run: what lists show and what guards its log. A projection of the log.
struct RunRow {
  RunId id;
  WorkspaceSlug workspace;
  RunStatus status = RunStatus::queued;
  std::string name;
  std::string model_id;
  std::string metadata;  // JSON object text
  WallTime created_at{};
  WallTime updated_at{};
  EventSeq last_seq = 0;
  std::int32_t segments = 0;  // number of segments in the log; the next one gets it as `n`
  std::int64_t epoch = 0;
};

// A mailbox. The one of a pending tool call is opened by the owner and filled at most once; the
// one of a cancel request exists only once filled.
enum class MailKind : std::uint8_t { tool_result, cancel };
struct Mailbox {
  RunId run;
  std::string slot;  // the toolUseId, or "cancel"
  MailKind kind = MailKind::tool_result;
  std::string name;  // the tool's name, for lists of pending calls
  WallTime opened_at{};
  WallTime deadline_at{};
  bool filled = false;
  std::string body;  // opaque; empty until filled
};

struct NewRun {
  RunRow row;
  Segment first;  // journal only: n = 0, last_seq = 0
  // Caller's idempotency key and a fingerprint of what was asked; empty without one.
  std::string idempotency_key;
  std::string fingerprint;
};

struct CreateOutcome {
  enum class Kind { created, existing, conflict };
  Kind kind = Kind::created;
  RunId run;               // the new or the existing run
  std::int64_t epoch = 0;  // valid for `created`: the caller owns the run
};

struct AppendItem {
  WorkspaceSlug workspace;
  RunId run;
  std::int64_t epoch = 0;
  EventSeq expected_seq = 0;  // last_seq of the log before this append
  SegmentPtr segment;
  // Projections, in the same transaction. A terminal status also removes every mailbox of the run.
  RunStatus status = RunStatus::running;
  std::vector<Mailbox> open;       // mailboxes to open
  std::vector<std::string> close;  // slots whose mail is folded (or no longer wanted): removed
};

enum class MailOutcome {
  accepted,     // committed; nobody else's will be
  unknown_run,  // no such run in this workspace
  run_ended,    // the run is terminal
  unknown_slot  // not open: never was, already filled, or removed
};

struct Mail {
  WorkspaceSlug workspace;
  RunId run;
  std::string slot;
  MailKind kind = MailKind::tool_result;
  std::string body;
};

struct RunFilter {
  WorkspaceSlug workspace;
  std::optional<RunStatus> status;                            // `running` also finds `waiting`
  std::vector<std::pair<std::string, std::string>> metadata;  // every pair must match
  std::optional<RunId> before;  // page on: only runs older than this one
  std::size_t limit = 50;
};

struct ApiKeyRow {
  KeyId id;
  WorkspaceSlug workspace;
  std::string name;
  std::string hash;    // hex SHA-256 of the key; the key itself is never stored
  std::string prefix;  // first characters, to recognise it by
  WallTime created_at{};
  std::optional<WallTime> revoked_at;
};

// A run that a node has taken over, with everything that its owner needs.
struct ClaimedRun {
  RunRow row;  // with the new epoch
  std::vector<Mailbox> mail;
};

// Safe to call from any home; a call's result comes on the caller's home. Every call may fail with
// unavailable; only other codes are listed.
class Store {
 public:
  virtual ~Store() = default;

  // Decided by the unique (workspace, idempotency key) row: exactly one of many equal requests
  // creates. Durable when it returns.
  virtual Task<Result<CreateOutcome>> create(NewRun run) = 0;

  // Appends one segment. Durable when it returns. Many runs' appends share one commit.
  // conflict: the epoch is stale, or expected_seq or segment->n is not the log's end.
  // outcome_unknown: it may have been appended; read the row before anything else.
  virtual Task<Result<void>> append(AppendItem item) = 0;

  // Fills a mailbox, first wins: an open one for a tool result, an absent one for a cancel
  // request. Durable when it returns `accepted`.
  virtual Task<Result<MailOutcome>> mail(Mail mail) = 0;

  // Takes over the unfinished runs that nobody owns (on one node: all of a former process), oldest
  // first, at most `limit` a call; an empty answer means that there are no more.
  virtual Task<Result<std::vector<ClaimedRun>>> claim(std::size_t limit) = 0;
  // Keeps what this node owns and brings the filled mailboxes that other nodes wrote for it.
  virtual Task<Result<std::vector<Mailbox>>> renew() = 0;
  // Gives a run up, so that another node may claim it. conflict: it is not owned with this epoch.
  virtual Task<Result<void>> release(RunId run, std::int64_t epoch) = 0;

  // not_found: no such run in this workspace.
  virtual Task<Result<RunRow>> find(WorkspaceSlug workspace, RunId run) = 0;
  // Newest first.
  virtual Task<Result<std::vector<RunRow>>> list(RunFilter filter) = 0;
  // Mailboxes of a run, filled or not.
  virtual Task<Result<std::vector<Mailbox>>> mailboxes(RunId run) = 0;

  // Segments with events after `after`, in order, at least one if there is any, then until
  // `bytes_max` is passed. Only `events` is filled, `journal` is empty.
  virtual Task<Result<std::vector<SegmentPtr>>> read_events(RunId run, EventSeq after,
                                                            std::size_t bytes_max) = 0;
  // All journal text of a run, in order.
  virtual Task<Result<std::string>> read_journal(RunId run) = 0;

  // conflict: a key with this hash exists.
  virtual Task<Result<void>> add_key(ApiKeyRow key) = 0;
  virtual Task<Result<std::vector<ApiKeyRow>>> list_keys() = 0;
  // not_found: no such key in this workspace.
  virtual Task<Result<void>> revoke_key(WorkspaceSlug workspace, KeyId id, WallTime at) = 0;

  // Whether the store answers, for readiness.
  virtual Task<Result<void>> ping() = 0;
};

}  // namespace errand
