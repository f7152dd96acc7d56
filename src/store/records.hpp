#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "run/ids.hpp"
#include "run/log/event.hpp"
#include "run/run_format.hpp"
#include "run/status.hpp"
#include "store/idempotency.hpp"
#include "store/sessions.hpp"

// What goes into a Store and comes out of it.
namespace errand {

// Events and journal entries of one run that become durable together. At most kSegmentBytesMax of
// event text, unless a single event is larger.
struct Segment {
  EventSeq last_seq = 0;  // seq of the last event in it, or of the last one before it
  std::int32_t n = 0;     // position in the run's log: 0, 1, 2 ...
  std::int32_t events_count = 0;
  WallTime at{};
  std::string journal;  // journal entries, one JSON object per line; may be empty
  std::string events;   // events, one JSON object per line; may be empty
  // The same events for readers in this process; stores need not keep them. All of them, or none.
  std::vector<StampedEvent> typed = {};

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
  StoreTime ends_by{};        // when its time is up, even while it waits
  std::int32_t segments = 0;  // number of segments in the log; the next one gets it as `n`
  std::int64_t epoch = 0;
  int format = kRunFormat;
  SessionId session = {};  // empty: of no session

  RunKey key() const { return {.workspace = workspace, .run = id}; }
};

// A mailbox. Mailboxes for answers are opened by the owner and filled at most once; mailboxes for
// requests exist only once filled. Databases hold the numbers of the kinds.
enum class MailKind : std::uint8_t { tool_result = 0, cancel = 1, progress = 5 };
constexpr bool is_answer(MailKind kind) {
  return kind == MailKind::tool_result;
}
struct Mailbox {
  RunId run;
  std::string slot;  // the toolUseId, or "cancel"
  MailKind kind = MailKind::tool_result;
  std::string name;          // the tool's name, for lists of pending calls
  std::string request;       // the request to the client that answers; opaque
  bool offer_again = false;  // clients may have forgotten it once the owner was gone
  WallTime opened_at{};
  StoreTime deadline{};
  bool filled = false;
  std::string body;  // opaque; empty until filled
  // The client that has claimed the call until then; empty: the call is not claimed.
  std::string claim_id;
  StoreTime claimed_until{};
};

// Bytes that a run's log names by a hash and does not hold, such as files. They are kept once,
// however many runs name them, and go with the last of these.
struct RunBlob {
  std::string hash;
  std::shared_ptr<const std::string> bytes;  // nullptr: another run has stored them
};

// Changes beside the log of a run, in the transaction of their cause: a commit of the run's owner,
// its creation, or mail to it. Each cause has only the effects that it can have.
struct Effects {
  std::vector<Mailbox> open;       // mailboxes to open
  std::vector<std::string> close;  // slots whose mail is folded, or no longer wanted: removed
  std::vector<RunBlob> blobs;      // kept for the run
  // Entries for the history of the run's session, in order. Only commits of a run that has the turn
  // may bring them.
  std::vector<std::string> history = {};
};
struct BeginEffects {
  std::vector<Mailbox> open = {};
  std::vector<RunBlob> blobs = {};
};
struct MailEffects {
  std::vector<RunBlob> blobs = {};  // all of them with bytes
};

struct NewRun {
  RunRow row;
  Segment first;  // journal only: n = 0, last_seq = 0
  Idempotency idempotency;
  BeginEffects effects;  // if the run is created
  std::optional<SessionTurn> session = {};
};

struct CreateOutcome {
  Creation kind = Creation::created;
  RunId run;               // the new or the existing run
  std::int64_t epoch = 0;  // valid for `created`: the caller owns the run
  // Of a run of a session. Refused: nothing was created, and `kind` says nothing.
  std::optional<SessionRefusal> refused = {};
  bool waits_for_turn = false;            // it was created with the status `queued`
  std::optional<RunId> interrupted = {};  // has a cancel in its mailbox from now on
  // Of its session, if the run has the turn: no other run adds to it. Absent: not looked up.
  std::optional<HistorySize> history = {};
};

// What the owner of a run writes at once.
struct Commit {
  RunKey key;
  std::int64_t epoch = 0;
  EventSeq expected_seq = 0;  // last_seq of the log before this commit
  SegmentPtr segment;
  // Projections, in the same transaction. A terminal status also removes every mailbox of the run.
  RunStatus status = RunStatus::running;
  Effects effects = {};
};

// Why a commit is refused. It then has changed nothing.
enum class CommitRefusal : std::uint8_t {
  stale_epoch,   // the run is gone, or another process owns it
  not_at_end,    // the log does not end where the commit begins, or the run has ended
  mail_waiting,  // it would end the run, but a cancel lies in its mailbox that it does not close
  newer_format   // a newer program wrote the run
};
std::string_view to_string(CommitRefusal refusal);

struct Appended {
  std::optional<CommitRefusal> refused = {};
  // The commit ended the run of a session, and this run has the turn from now on: it is owned with
  // the epoch of the commit, and `queued` until it starts.
  std::optional<RunId> started = {};
};

enum class MailOutcome {
  accepted,      // committed; no other answer will be
  unknown_run,   // no such run in this workspace
  run_ended,     // the run is terminal
  unknown_slot,  // not open: never was, already filled, or removed
  claimed,       // another client has claimed the call
  stale_epoch,   // the sender says that it is the owner, and is not any more
  newer_format   // a newer program wrote the run
};

struct Mail {
  RunKey to;
  std::string slot;
  MailKind kind = MailKind::tool_result;
  std::string body;
  std::string claim_id = {};  // the claim that the sender holds; empty without one
  // The run's owner gives up waiting: no claim stands in its way. Its own epoch.
  std::optional<std::int64_t> owner_epoch = {};
  MailEffects effects = {};  // if the mail is accepted
};

// The mailbox as the store holds it once it has accepted the mail.
Mailbox filled_by(Mail mail);

// What became of mail whose outcome was lost, by the mailboxes of its run. Nothing: the mail was
// not taken, and may be sent again.
std::optional<MailOutcome> outcome_in(const std::vector<Mailbox>& boxes, const Mail& mail);

// One of many clients takes a pending call for itself for a while, or for a while longer. A claim
// that is made again with its id is renewed: its client may not have heard of it.
struct CallClaim {
  enum class Kind { claim, extend };
  Kind kind = Kind::claim;
  WorkspaceSlug workspace;
  std::string slot;
  std::string claim_id;  // of the new claim, or of the one to extend
  milliseconds ttl{};
};

struct CallClaimOutcome {
  enum class Kind {
    claimed,
    taken,        // by a claim that is in force; for an extension: the claim was lost to another
    unknown_slot  // not open: never was, already filled, or removed
  };
  Kind kind = Kind::claimed;
  Mailbox box;  // of `claimed`
};

// A page of things that may be long ends early: once the rows of a page have so many bytes, one
// more row comes, which tells that there are more.
constexpr std::size_t kNoBytesMax = std::numeric_limits<std::size_t>::max();

// Open and unfilled mailboxes of calls, in the order of their slots.
struct CallFilter {
  enum class Status { any, unclaimed, claimed };
  WorkspaceSlug workspace;
  Status status = Status::any;
  std::string name;       // empty: calls of all tools
  std::string slot = {};  // only the call with this slot, `after` left aside; empty: all
  std::string after;      // page on: only slots after this one
  std::size_t limit = 50;
  std::size_t bytes_max = kNoBytesMax;  // of requests
};

struct RunFilter {
  WorkspaceSlug workspace;
  std::optional<RunStatus> status;                            // `running` also finds `waiting`
  std::vector<std::pair<std::string, std::string>> metadata;  // every pair must match
  std::optional<SessionId> session = {};                      // only runs of this session
  CreatedBetween created = {};
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

struct AddKeyOutcome {
  Creation kind = Creation::created;
  ApiKeyRow key;  // the new or the existing one
};

// Asks for unfinished runs without an owner.
struct ClaimRuns {
  std::size_t limit = 0;            // at least 1
  milliseconds grace{};             // unfilled mailboxes of the runs stay open for at least so long
  std::optional<RunKey> after;      // go on behind this run
  std::optional<RunKey> only = {};  // without `after`: this run, or nothing
};

// A run that a node has taken over, with everything that its owner needs.
struct ClaimedRun {
  RunRow row;  // with the new epoch
  std::vector<Mailbox> mail;
  std::int64_t former_epoch = 0;  // of the process that owned it before; 0: it was released
  // That process stopped, or released the run, on purpose; it did not die of this run.
  bool was_left = false;
};

struct ClaimedRuns {
  std::vector<ClaimedRun> runs;
  std::optional<RunKey> next;  // where to go on; absent: there are no more
  // How many there were to claim before this. Only of a page from the beginning.
  std::size_t found = 0;
};

struct Renewal {
  // For so long no other node may claim this node's runs; milliseconds::max() for ever.
  milliseconds lease_left = milliseconds::max();
  std::vector<Mailbox> mail;  // filled mailboxes of its runs that other nodes wrote
};

// A place in the order in which runs have ended.
struct EndedPlace {
  StoreTime ended_at{};
  RunKey run = {};

  friend auto operator<=>(const EndedPlace&, const EndedPlace&) = default;
};

// A small step of removing old data.
struct Prune {
  // Runs that ended before this go, with everything of theirs. A run may have ended before the
  // store had a clock, at a negative time.
  StoreTime ended_before = StoreTime::min();
  std::set<RunId> spared = {};           // but not these
  std::optional<EndedPlace> after = {};  // only runs that ended behind this place
  // Of a step. Large segments and blobs count as several, a run that stays counts as one.
  std::size_t segments_max = 0;
};

struct PruneOutcome {
  std::size_t runs = 0;  // removed from lists in this step
  bool is_done = true;   // nothing is left to do
  // Up to here, runs are gone or stay: the next step may go on behind this place.
  std::optional<EndedPlace> seen = {};
};

// Things that are not runs: agents, tools, secrets, rooms. What a kind means is not the store's
// business.
struct RecordKey {
  WorkspaceSlug workspace;
  std::string kind;
  std::string id;

  friend auto operator<=>(const RecordKey&, const RecordKey&) = default;
};

// Records of this kind belong to the run that has their id, and go with it.
inline constexpr std::string_view kRunRecordKind = "feedback";

struct Record {
  RecordKey key;
  std::int64_t version = 0;  // 1 for a new one, one more with each change: its etag
  WallTime created_at{};
  WallTime updated_at{};
  std::string body;

  friend bool operator==(const Record&, const Record&) = default;
};

struct RecordChange {
  RecordKey key;
  std::optional<std::string> body;  // absent: the record is removed
  // The version that the change builds on, 0 for a record that must be new. Absent: any version, or
  // none.
  std::optional<std::int64_t> expected_version = {};
};

// Changes of records are made all together or not at all.
struct RecordsOutcome {
  std::vector<Record>
      records;  // as they are now, in the order of the changes; without removed ones
  // The first change whose expected version is not the stored one; nothing was changed.
  std::optional<std::size_t> refused;
};

struct RecordFilter {
  WorkspaceSlug workspace;
  std::string kind;
  std::string after;  // page on: only ids after this one
  std::size_t limit = 50;
  std::size_t bytes_max = kNoBytesMax;  // of bodies
};

}  // namespace errand
