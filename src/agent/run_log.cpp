#include "agent/run_log.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace errand::agent {
namespace {

// The last moment up to `latest` at which all runs flush: when they flush together, fewer timers
// and commits are needed.
SteadyTime with_others(SteadyTime latest) {
  return latest - latest.time_since_epoch() % RunLog::kDeltaWait;
}

// A long text that has little room to give is not worth a copy.
void give_back_room(std::string& text) {
  constexpr std::size_t kLongBytes = 64U * 1024;
  const std::size_t room = text.capacity() - text.size();
  if (text.size() < kLongBytes || room > text.size() / 4) text.shrink_to_fit();
}

}  // namespace

RunLog::RunLog(Deps deps, Options options)
    : deps_(std::move(deps)),
      options_(std::move(options)),
      last_seq_(options_.last_seq),
      committed_seq_(options_.last_seq),
      next_segment_(options_.segments),
      durable_segments_(options_.segments),
      status_(options_.status) {}

RunLog::Pending& RunLog::current() {
  if (pending_.empty()) {
    pending_.emplace_back();
    pending_.back().segment.n = next_segment_++;
  }
  return pending_.back();
}

RunLog::~RunLog() {
  deps_.timers.cancel(company_timer_);
}

void RunLog::write(const JournalEntry& entry, milliseconds wait_max) {
  std::string& journal = current().segment.journal;
  const std::size_t before = journal.size();
  append_journal_line(journal, entry);
  pending_bytes_ += journal.size() - before;
  send_within(wait_max);
}

void RunLog::emit(const Event& event, milliseconds wait_max) {
  add_event(event);
  send_within(wait_max);
}

void RunLog::emit_delta(const Event& event) {
  // A segment may be split only between deltas, because an entry and its events belong together.
  if (!pending_.empty() && pending_.back().segment.events.size() >= kSegmentBytesMax) {
    pending_.emplace_back();
    pending_.back().segment.n = next_segment_++;
  }
  add_event(event);
  send_within(kDeltaWait);
}

void RunLog::add_event(const Event& event) {
  Segment& segment = current().segment;
  const std::size_t before = segment.events.size();
  append_event_line(segment.events, ++last_seq_, event);
  pending_bytes_ += segment.events.size() - before;
  if (options_.typed_events) segment.typed.push_back({.seq = last_seq_, .event = as_shown(event)});
  ++segment.events_count;
}

void RunLog::keep_blobs(std::vector<RunBlob> blobs) {
  std::vector<RunBlob>& kept = current().effects.blobs;
  std::move(blobs.begin(), blobs.end(), std::back_inserter(kept));
}

void RunLog::open_mailbox(Mailbox mailbox) {
  // The call is shown, and can be answered, only when its mailbox is durable.
  current().effects.open.push_back(std::move(mailbox));
  send_within(kNoWait);
}

void RunLog::close_mailbox(std::string slot, milliseconds wait_max) {
  current().effects.close.push_back(std::move(slot));
  send_within(wait_max);
}

void RunLog::set_status(RunStatus status, milliseconds wait_max) {
  if (status == status_) return;
  status_ = status;
  // A status is committed with a segment, even with an empty one.
  current();
  send_within(wait_max);
}

void RunLog::send_within(milliseconds wait_max) {
  bool is_nearer = wait_max < wait_max_;
  bool is_waiting = company_timer_ != Timers::Id();
  wait_max_ = std::min(wait_max_, wait_max);
  if (pumping_ || failure_ || (is_waiting && !is_nearer)) return;
  // A flush was waiting to share a commit. This event is more urgent, and the waiting ones go
  // along.
  if (is_waiting || wait_max_ == kNoWait) return start_pump();
  company_timer_ =
      deps_.timers.set(with_others(deps_.timers.now() + wait_max_), [this] { start_pump(); });
}

void RunLog::start_pump() {
  deps_.timers.cancel(std::exchange(company_timer_, {}));
  pumping_ = true;
  deps_.tasks.spawn("run.log", pump());
}

Task<void> RunLog::next_commit() {
  Wakeup wakeup(deps_.home);
  waiters_.push_back(&wakeup);
  struct Leave {
    std::vector<Wakeup*>& waiters;
    Wakeup* me;
    ~Leave() { std::erase(waiters, me); }
  };
  Leave leave{waiters_, &wakeup};
  co_await wakeup.wait();
}

Task<Result<void>> RunLog::flush() {
  ++deps_.counters.durable_waits;
  if (!pending_.empty()) send_within(kNoWait);
  const std::int32_t target = next_segment_;
  while (durable_segments_ < target && !failure_) co_await next_commit();
  if (durable_segments_ < target) co_return *failure_;
  co_return Result<void>();
}

Task<void> RunLog::room() {
  while (!has_room() && !failure_) co_await next_commit();
}

Task<Result<RunLog::End>> RunLog::finish(TerminalEntry entry, Event event,
                                         std::vector<std::string> history) {
  Pending& last = current();
  // If a cancel was accepted first, take_back_end() cuts the segment here.
  before_end_ = Mark{.journal = last.segment.journal.size(),
                     .events = last.segment.events.size(),
                     .status = status_};
  write(entry);
  emit(event);
  current().effects.history = std::move(history);
  set_status(entry.status);
  ++deps_.counters.durable_waits;
  const std::int32_t target = next_segment_;
  while (before_end_ && durable_segments_ < target && !failure_) co_await next_commit();
  if (!before_end_) co_return End::cancel_waits;
  if (durable_segments_ < target) co_return *failure_;
  co_return End::durable;
}

// Only the end of the run is taken back. The rest of the segment still holds, and is committed
// alone.
void RunLog::take_back_end(const Commit& refused) {
  ERRAND_ASSERT(pending_.empty());
  const Mark mark = *std::exchange(before_end_, std::nullopt);
  status_ = mark.status;
  --last_seq_;
  next_segment_ = refused.segment->n;
  Pending rest{.segment = *refused.segment, .effects = refused.effects};
  rest.segment.journal.resize(mark.journal);
  rest.segment.events.resize(mark.events);
  rest.effects.history.clear();
  --rest.segment.events_count;
  if (!rest.segment.typed.empty()) rest.segment.typed.pop_back();
  const Effects& effects = rest.effects;
  bool is_empty = rest.bytes() == 0 && effects.open.empty() && effects.close.empty();
  if (is_empty) return;
  ++next_segment_;
  wait_max_ = kNoWait;
  pending_bytes_ += rest.bytes();
  pending_.push_back(std::move(rest));
}

// Commits one segment at a time: each segment says where the log ends before it, and if the store
// refuses a segment, it must not have the next one.
Task<void> RunLog::pump() {
  do {
    Commit commit = take_first();
    ++deps_.counters.appends;
    auto appended = co_await timed_append(commit);
    if (!appended) {
      fail(std::move(appended).error());
      break;
    }
    const std::optional<CommitRefusal>& refused = appended->appended.refused;
    // A cancel was accepted before the end, so the run ends as cancelled.
    if (refused == CommitRefusal::mail_waiting && before_end_) {
      take_back_end(commit);
      wake_waiters();
      continue;
    }
    if (refused) {
      fail(Error(ErrorCode::conflict, std::string(to_string(*refused))));
      break;
    }
    committed_seq_ = commit.segment->last_seq;
    durable_segments_ = commit.segment->n + 1;
    options_.on_commit({.segment = commit.segment,
                        .status = commit.status,
                        .opened = commit.effects.open,
                        .closed = commit.effects.close,
                        .started = appended->appended.started,
                        .is_turn_unknown = appended->is_read_back && is_terminal(commit.status)});
    wake_waiters();
    // A last segment that may wait does so to share a commit. Full segments before it do not wait.
  } while (pending_.size() > 1 || (!pending_.empty() && wait_max_ == kNoWait));
  pumping_ = false;
  if (!pending_.empty() && !failure_) send_within(wait_max_);
}

Task<Result<RunLog::Outcome>> RunLog::timed_append(Commit commit) {
  struct Waiting {
    Counters& counters;
    explicit Waiting(Counters& all) : counters(all) { ++counters.commits_waiting; }
    ~Waiting() { --counters.commits_waiting; }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
  };
  Waiting waiting(deps_.counters);
  const SteadyTime begun = deps_.timers.now();
  auto appended = co_await append(std::move(commit));
  deps_.counters.commit_times.observe(deps_.timers.now() - begun);
  co_return appended;
}

void RunLog::fail(Error error) {
  failure_ = std::move(error);
  wake_waiters();
  options_.on_failure(*failure_);
}

Task<Result<RunLog::Outcome>> RunLog::append(Commit commit) {
  for (Backoff backoff(kRetries, options_.key.run.view());;) {
    auto appended = co_await deps_.store.append(commit);
    if (appended) co_return Outcome{.appended = std::move(*appended)};
    if (appended.error().code() == ErrorCode::outcome_unknown) {
      ERRAND_CO_TRY(auto known, co_await read_back(commit));
      if (known) co_return std::move(*known);
    } else if (appended.error().code() != ErrorCode::unavailable) {
      co_return std::move(appended).error();
    }
    co_await deps_.timers.sleep_until(deps_.timers.now() + backoff.next());
  }
}

// What became of a commit whose outcome was lost; empty if it was not made.
Task<Result<std::optional<RunLog::Outcome>>> RunLog::read_back(Commit commit) {
  for (Backoff backoff(kRetries, options_.key.run.view());;) {
    auto row = co_await deps_.store.find(commit.key);
    if (row) {
      bool is_ours = row->epoch == commit.epoch;
      if (is_ours && row->segments == commit.segment->n) co_return std::optional<Outcome>();
      // If the log is neither where it was nor one segment longer, another process owns the run.
      bool is_done = is_ours && row->segments == commit.segment->n + 1;
      Outcome outcome{.is_read_back = true};
      if (!is_done) outcome.appended.refused = CommitRefusal::stale_epoch;
      co_return outcome;
    }
    if (row.error().code() != ErrorCode::unavailable) co_return std::move(row).error();
    co_await deps_.timers.sleep_until(deps_.timers.now() + backoff.next());
  }
}

Commit RunLog::take_first() {
  Pending first = std::move(pending_.front());
  pending_.pop_front();
  pending_bytes_ -= first.bytes();
  if (pending_.empty()) wait_max_ = milliseconds::max();
  first.segment.at = deps_.clock.now();
  // Readers may hold the segment for long, so its spare capacity is freed.
  give_back_room(first.segment.journal);
  give_back_room(first.segment.events);
  EventSeq expected = committed_seq_;
  first.segment.last_seq = expected + first.segment.events_count;
  return {.key = options_.key,
          .epoch = options_.epoch,
          .expected_seq = expected,
          .segment = std::make_shared<const Segment>(std::move(first.segment)),
          .status = pending_.empty() ? status_ : RunStatus::running,
          .effects = std::move(first.effects)};
}

void RunLog::wake_waiters() {
  for (Wakeup* waiter : waiters_) waiter->notify();
}

}  // namespace errand::agent
