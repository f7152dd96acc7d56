#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "run/ids.hpp"
#include "store/idempotency.hpp"

// Sessions in a Store: conversations that runs carry on one after the other.
//
// The store decides who may write: at most one run of a session has the turn. Runs that come while
// another has the turn wait in a queue, as runs with the status `queued`. The commit that ends the
// run which has the turn gives the turn to the oldest in the queue, in the same transaction. What a
// message means is not the store's business: histories are opaque entries.
namespace errand {

// A session and the workspace it belongs to. Found by both only.
struct SessionKey {
  WorkspaceSlug workspace;
  SessionId session;

  friend auto operator<=>(const SessionKey&, const SessionKey&) = default;
};

enum class SessionStatus : std::uint8_t { active, ended };

// A place in a list of sessions.
struct SessionPlace {
  WallTime last_used_at{};
  SessionId session;

  friend auto operator<=>(const SessionPlace&, const SessionPlace&) = default;
};

// How long a history is.
struct HistorySize {
  std::int64_t entries = 0;
  std::int64_t bytes = 0;  // of all entries together

  friend bool operator==(const HistorySize&, const HistorySize&) = default;
};

struct SessionRow {
  SessionId id;
  WorkspaceSlug workspace;
  SessionStatus status = SessionStatus::active;
  std::string name;
  std::string spec;      // what its runs are asked for with; opaque
  std::string metadata;  // JSON object text, found by lists like a run's
  WallTime created_at{};
  WallTime last_used_at{};  // of its last run's creation or end
  std::optional<WallTime> ended_at = {};
  std::int64_t entries = 0;           // of its history
  std::optional<RunId> current = {};  // the run that has the turn
  std::int64_t queued = 0;            // runs that wait for the turn
  std::int64_t history_bytes = 0;     // of all entries together

  SessionKey key() const { return {.workspace = workspace, .session = id}; }
  SessionPlace place() const { return {.last_used_at = last_used_at, .session = id}; }
  HistorySize history() const { return {.entries = entries, .bytes = history_bytes}; }
};

struct NewSession {
  SessionRow row;  // the store fills in what later changes: the session is active, unused and empty
  Idempotency idempotency;
};

struct CreateSessionOutcome {
  Creation kind = Creation::created;
  SessionId session;  // the new or the existing one
};

// What a new run does if another run has the turn.
enum class WhenBusy : std::uint8_t {
  queue,     // waits for its turn, behind the waiting runs
  reject,    // is not created
  interrupt  // waits ahead of all others; the run that has the turn is asked to stop
};

// Makes a new run one of a session's.
struct SessionTurn {
  SessionId session;
  WhenBusy when_busy = WhenBusy::queue;
  std::size_t queued_max = 0;      // with so many waiting, a run that would wait is not created
  std::string cancel_reason = {};  // told to the run that is interrupted; body of its cancel mail
};

// Why a run of a session is not created.
enum class SessionRefusal : std::uint8_t {
  unknown_session,
  session_ended,
  session_busy,  // another run has the turn
  queue_full
};

// One entry of a session's history, numbered 1, 2, 3 ...
struct SessionEntry {
  std::int64_t n = 0;
  RunId run;         // the run that added it
  std::string body;  // opaque

  friend bool operator==(const SessionEntry&, const SessionEntry&) = default;
};

// A time of creation: at `from` or later, and before `until`. Rows of that time have ids between
// `first` and `last`, so that only these are looked at.
struct CreatedBetween {
  std::optional<WallTime> from = {};
  std::optional<WallTime> until = {};
  std::string first = {};  // ids are not less; empty: no bound
  std::string last = {};   // ids are less; empty: no bound

  bool is_given() const { return from || until; }
  bool contains(WallTime at) const { return (!from || at >= *from) && (!until || at < *until); }
};

// The last used first. Among sessions that were used at the same moment, the newest first.
struct SessionFilter {
  WorkspaceSlug workspace;
  std::optional<SessionStatus> status = {};
  std::vector<std::pair<std::string, std::string>> metadata = {};  // every pair must match
  CreatedBetween created = {};
  std::optional<SessionPlace> before = {};  // page on: only sessions behind this place
  std::size_t offset = 0;                   // skip so many more
  std::size_t limit = 50;
};

// What the end of a session leaves to do: its runs, unfinished, have a cancel in their mailboxes.
struct EndedSession {
  bool was_active = false;       // false: it had ended before, and nothing was changed
  std::vector<RunId> cancelled;  // the run that had the turn, then the waiting ones, in order
};

}  // namespace errand
