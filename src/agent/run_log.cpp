#include "agent/run_log.hpp"

#include <algorithm>
#include <utility>

namespace errand::agent {
namespace {

// The last moment up to `latest` at which all runs send what has waited: together, they need fewer
// timers and fewer commits.
SteadyTime with_others(SteadyTime latest) {
  return latest - latest.time_since_epoch() % RunLog::kDeltaWait;
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
  append_journal_line(current().segment.journal, entry);
  send_within(wait_max);
}

void RunLog::emit(const Event& event, milliseconds wait_max) {
  add_event(event);
  send_within(wait_max);
}

void RunLog::emit_delta(const Event& event) {
  // Only between deltas may a segment be split: an entry and its events belong together.
  if (!pending_.empty() && pending_.back().segment.events.size() >= kSegmentBytesMax) {
    pending_.emplace_back();
    pending_.back().segment.n = next_segment_++;
  }
  add_event(event);
  send_within(kDeltaWait);
}

void RunLog::add_event(const Event& event) {
  Segment& segment = current().segment;
  append_event_line(segment.events, ++last_seq_, event);
  ++segment.events_count;
}

void RunLog::open_mailbox(Mailbox mailbox) {
  current().open.push_back(std::move(mailbox));
  send_within(kNoWait);
}

void RunLog::close_mailbox(std::string slot, milliseconds wait_max) {
  current().close.push_back(std::move(slot));
  send_within(wait_max);
}

void RunLog::set_status(RunStatus status, milliseconds wait_max) {
  if (status == status_) return;
  status_ = status;
  current();
  send_within(wait_max);
}

void RunLog::send_within(milliseconds wait_max) {
  bool is_nearer = wait_max < wait_max_;
  bool is_waiting = company_timer_ != Timers::Id();
  wait_max_ = std::min(wait_max_, wait_max);
  if (pumping_ || failure_ || (is_waiting && !is_nearer)) return;
  // Something that waits has waited for just this: what is more urgent takes it along.
  if (is_waiting || wait_max_ == kNoWait) return start_pump();
  company_timer_ =
      deps_.timers.set(with_others(deps_.timers.now() + wait_max_), [this] { start_pump(); });
}

void RunLog::start_pump() {
  deps_.timers.cancel(std::exchange(company_timer_, {}));
  pumping_ = true;
  deps_.tasks.spawn("run.log", pump());
}

Task<Result<void>> RunLog::flush() {
  ++deps_.counters.durable_waits;
  if (!pending_.empty()) send_within(kNoWait);
  std::int32_t target = next_segment_;
  Wakeup wakeup(deps_.home);
  waiters_.push_back(&wakeup);
  struct Leave {
    std::vector<Wakeup*>& waiters;
    Wakeup* me;
    ~Leave() { std::erase(waiters, me); }
  };
  Leave leave{waiters_, &wakeup};
  while (durable_segments_ < target && !failure_) co_await wakeup.wait();
  if (durable_segments_ < target) co_return *failure_;
  co_return Result<void>();
}

Task<void> RunLog::pump() {
  do {
    AppendItem item = take_first();
    Commit commit{
        .segment = item.segment, .status = item.status, .offers_calls = !item.open.empty()};
    ++deps_.counters.appends;
    auto appended = co_await deps_.store.append(std::move(item));
    if (!appended) {
      failure_ = std::move(appended).error();
      wake_waiters();
      options_.on_failure(*failure_);
      break;
    }
    committed_seq_ = commit.segment->last_seq;
    durable_segments_ = commit.segment->n + 1;
    options_.on_commit(commit);
    wake_waiters();
  } while (pending_.size() > 1 || (!pending_.empty() && wait_max_ == kNoWait));
  pumping_ = false;
  if (!pending_.empty() && !failure_) send_within(wait_max_);
}

AppendItem RunLog::take_first() {
  Pending first = std::move(pending_.front());
  pending_.pop_front();
  if (pending_.empty()) wait_max_ = milliseconds::max();
  first.segment.at = deps_.clock.now();
  // Readers may hold the segment for long; what it grew by on the way is given back.
  first.segment.journal.shrink_to_fit();
  first.segment.events.shrink_to_fit();
  EventSeq expected = committed_seq_;
  first.segment.last_seq = expected + first.segment.events_count;
  return {.workspace = options_.workspace,
          .run = options_.run,
          .epoch = options_.epoch,
          .expected_seq = expected,
          .segment = std::make_shared<const Segment>(std::move(first.segment)),
          .status = pending_.empty() ? status_ : RunStatus::running,
          .open = std::move(first.open),
          .close = std::move(first.close)};
}

void RunLog::wake_waiters() {
  for (Wakeup* waiter : waiters_) waiter->notify();
}

}  // namespace errand::agent
