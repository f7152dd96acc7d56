#pragma once

#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "agent/counters.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "async/wakeup.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "run/event.hpp"
#include "run/journal.hpp"
#include "store/store.hpp"

namespace errand::agent {

// What has become durable.
struct Commit {
  SegmentPtr segment;
  RunStatus status = RunStatus::running;
  bool offers_calls = false;  // mailboxes were opened with it
};

// The pen of a run's owner: gathers events and journal entries, gives out seq, and appends them to
// the store one segment after the other. Nothing is shown before its segment is committed; what is
// written in one stretch (without a co_await between) commits together.
//
// What can wait shares a commit with what comes next, and with what waits in other runs: streamed
// text for kDeltaWait at most, and for kEchoWait what repeats something durable, so that a crash
// loses nothing. Everything else goes out at once. After a failed append the log is dead: its owner
// drops the run's memory and folds it again from the store.
class RunLog final {
 public:
  struct Options {
    WorkspaceSlug workspace;
    RunId run;
    std::int64_t epoch = 0;
    EventSeq last_seq = 0;
    std::int32_t segments = 0;
    RunStatus status = RunStatus::running;
    std::function<void(const Commit&)> on_commit;
    std::function<void(const Error&)> on_failure;
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

  RunLog(Deps deps, Options options);
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  void write(const JournalEntry& entry, milliseconds wait_max = kNoWait);
  void emit(const Event& event, milliseconds wait_max = kNoWait);
  void emit_delta(const Event& event);
  void open_mailbox(Mailbox mailbox);
  void close_mailbox(std::string slot, milliseconds wait_max = kNoWait);
  void set_status(RunStatus status, milliseconds wait_max = kNoWait);

  // Waits until everything written so far is durable. Counted as a durable wait.
  Task<Result<void>> flush();

  EventSeq last_seq() const { return last_seq_; }
  RunStatus status() const { return status_; }
  bool failed() const { return failure_.has_value(); }
  bool has_pending() const { return !pending_.empty(); }

 private:
  struct Pending {
    Segment segment;
    std::vector<Mailbox> open;
    std::vector<std::string> close;
  };

  Pending& current();
  void add_event(const Event& event);
  // Lets what is pending go out after this time at the latest.
  void send_within(milliseconds wait_max);
  void start_pump();
  Task<void> pump();
  AppendItem take_first();
  void wake_waiters();

  Deps deps_;
  const Options options_;
  std::list<Pending> pending_;
  EventSeq last_seq_;
  EventSeq committed_seq_;
  std::int32_t next_segment_;
  std::int32_t durable_segments_;
  RunStatus status_;
  milliseconds wait_max_ = milliseconds::max();  // that of the most urgent thing pending
  Timers::Id company_timer_;                     // while what is pending waits
  bool pumping_ = false;
  std::optional<Error> failure_;
  std::vector<Wakeup*> waiters_;
};

}  // namespace errand::agent
