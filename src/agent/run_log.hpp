#pragma once

#include <functional>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/counters.hpp"
#include "async/backoff.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "async/wakeup.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "run/log/event.hpp"
#include "run/log/journal.hpp"
#include "store/store.hpp"

namespace errand::agent {

// Events and entries that have become durable.
struct Committed {
  SegmentPtr segment;
  RunStatus status = RunStatus::running;
  std::span<const Mailbox> opened = {};      // for calls that a client is to answer
  std::span<const std::string> closed = {};  // slots of mailboxes that were removed
  // The run has ended and gave its session's turn to this run.
  std::optional<RunId> started = {};
  // The run has ended, and the store has not told whether it gave the turn to another.
  bool is_turn_unknown = false;
};

// The pen of a run's owner: gathers events and journal entries, gives out seq, and appends them to
// the store one segment after the other. Nothing is shown before its segment is committed;
// everything written in one stretch (without a co_await between) commits together.
//
// Writes that can wait share a commit with the next writes, and with waiting writes of other runs:
// streamed text for kDeltaWait at most, and for kEchoWait events that repeat durable ones, so that
// a crash loses nothing. Everything else goes out at once.
//
// While the store is in trouble, the log tries again, at growing and scattered intervals; its
// writes stay pending, and writers that can wait do so (has_room). If the store refuses a segment,
// the log is dead: its owner drops the run's memory and folds it again from the store.
class RunLog final {
 public:
  struct Options {
    RunKey key;
    std::int64_t epoch = 0;
    EventSeq last_seq = 0;
    std::int32_t segments = 0;
    RunStatus status = RunStatus::running;
    std::function<void(const Committed&)> on_commit;
    std::function<void(const Error&)> on_failure;
    bool typed_events = false;  // see Surroundings
  };
  struct Deps {
    Store& store;
    const Clock& clock;
    Timers& timers;
    TaskGroup& tasks;
    Executor home;
    Counters& counters;
  };

  static constexpr milliseconds kNoWait{0};
  static constexpr milliseconds kDeltaWait{2};
  static constexpr milliseconds kEchoWait{20};
  // With more pending, the vendor's stream is not read further.
  static constexpr std::size_t kPendingBytesMax = 256 * 1024;
  // Between attempts to write.
  static constexpr Backoff::Bounds kRetries{};

  RunLog(Deps deps, Options options);
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  void write(const JournalEntry& entry, milliseconds wait_max = kNoWait);
  void emit(const Event& event, milliseconds wait_max = kNoWait);
  void emit_delta(const Event& event);
  // The bytes that the entries written along with them name.
  void keep_blobs(std::vector<RunBlob> blobs);
  void open_mailbox(Mailbox mailbox);
  void close_mailbox(std::string slot, milliseconds wait_max = kNoWait);
  void set_status(RunStatus status, milliseconds wait_max = kNoWait);

  // Waits until everything written so far is durable. Counted as a durable wait.
  Task<Result<void>> flush();

  // Writes the end of the run behind everything else and waits until it is durable. A cancel
  // request that lies in the run's mailbox comes first: then the end is taken back, and the log
  // stands as if it had not been written.
  enum class End { durable, cancel_waits };
  // `history` is what the run adds to the history of its session.
  Task<Result<End>> finish(TerminalEntry entry, Event event, std::vector<std::string> history);

  bool has_room() const { return pending_bytes_ <= kPendingBytesMax; }
  // Waits until there is room again, or the log is dead.
  Task<void> room();

  EventSeq last_seq() const { return last_seq_; }
  RunStatus status() const { return status_; }
  bool failed() const { return failure_.has_value(); }
  bool has_pending() const { return !pending_.empty(); }

 private:
  struct Pending {
    Segment segment;
    Effects effects;
    std::size_t bytes() const { return segment.journal.size() + segment.events.size(); }
  };
  // How far a segment had come before the end of the run was written to it.
  struct Mark {
    std::size_t journal = 0;
    std::size_t events = 0;
    RunStatus status = RunStatus::running;
  };

  Pending& current();
  void add_event(const Event& event);
  // Sends pending writes after this time at the latest.
  void send_within(milliseconds wait_max);
  void start_pump();
  Task<void> pump();
  Commit take_first();
  // Tries until the outcome is known.
  struct Outcome {
    Appended appended;
    bool is_read_back = false;  // the store's own answer was lost
  };
  Task<Result<Outcome>> append(Commit commit);
  // The same, counted.
  Task<Result<Outcome>> timed_append(Commit commit);
  Task<Result<std::optional<Outcome>>> read_back(Commit commit);
  void take_back_end(const Commit& refused);
  void fail(Error error);
  void wake_waiters();
  // Waits for the next commit, or for the log's death.
  Task<void> next_commit();

  Deps deps_;
  const Options options_;
  std::list<Pending> pending_;
  std::size_t pending_bytes_ = 0;
  std::optional<Mark> before_end_;  // while the end of the run is pending
  EventSeq last_seq_;
  EventSeq committed_seq_;
  std::int32_t next_segment_;
  std::int32_t durable_segments_;
  RunStatus status_;
  milliseconds wait_max_ = milliseconds::max();  // of the most urgent pending write
  Timers::Id company_timer_;                     // while pending writes wait
  bool pumping_ = false;
  std::optional<Error> failure_;
  std::vector<Wakeup*> waiters_;
};

}  // namespace errand::agent
