#include "engine/residency/subscription.hpp"

#include <algorithm>
#include <utility>

namespace errand::engine {

Subscription::Subscription(Store& store, ReaderBudget& budget, std::shared_ptr<LiveRun> run,
                           EventSeq after, Executor home)
    : store_(store),
      budget_(budget),
      run_(std::move(run)),
      cursor_(after),
      queue_end_(after),
      queue_bytes_(budget),
      wakeup_(std::move(home)) {
  run_->add_reader(this);
}

Subscription::~Subscription() {
  run_->remove_reader(this);
}

void Subscription::push(const SegmentPtr& segment) {
  // A reader that is behind finds the segment in the store.
  if (segment->first_seq() != queue_end_ + 1) return wake();
  queue_bytes_.set(queue_bytes_.bytes() + segment->events.size());
  // A slow reader must not fill the memory: it reads the store when it comes to these events.
  if (queue_bytes_.bytes() > kQueueBytesMax || budget_.is_exceeded()) {
    drop_queue();
    return wake();
  }
  queue_.push_back(segment);
  queue_end_ = segment->last_seq;
  wake();
}

void Subscription::hear_retries() {
  hears_retries_ = true;
  retry_ = run_->retry();
}

void Subscription::push_retry(const ModelRetry& retry) {
  if (!hears_retries_) return;
  retry_ = retry;
  wake();
}

void Subscription::drop_queue() {
  queue_ = {};
  queue_bytes_.set(0);
  queue_end_ = cursor_;
}

void Subscription::rewind(EventSeq after) {
  cursor_ = after;
  drop_queue();
}

void Subscription::interrupt() {
  interrupted_ = true;
  wake();
}

bool Subscription::is_over() const {
  return run_->is_terminal() && cursor_ >= run_->committed_seq();
}

Subscription::Batch Subscription::take(std::vector<SegmentPtr> segments) {
  Batch batch{.after = cursor_, .segments = std::move(segments)};
  cursor_ = batch.segments.back()->last_seq;
  queue_end_ = cursor_;
  if (is_over()) batch.state = Batch::State::ended;
  return batch;
}

// The segments after the cursor, if the run still has them in memory.
std::vector<SegmentPtr> Subscription::recent_segments() const {
  const std::vector<SegmentPtr>& recent = run_->recent();
  if (recent.empty() || recent.front()->first_seq() > cursor_ + 1) return {};
  auto first = std::find_if(recent.begin(), recent.end(), [this](const SegmentPtr& segment) {
    return segment->last_seq > cursor_;
  });
  return {first, recent.end()};
}

bool Subscription::has_news() const {
  return interrupted_ || !queue_.empty() || cursor_ < run_->committed_seq() || is_over() || retry_;
}

// What is in memory for the reader, which has news; nothing if it is in the store.
std::optional<Subscription::Batch> Subscription::take_ready() {
  if (interrupted_) return Batch{.state = Batch::State::broken};
  if (!queue_.empty()) {
    queue_bytes_.set(0);
    return take(std::exchange(queue_, {}));
  }
  if (cursor_ < run_->committed_seq()) {
    std::vector<SegmentPtr> recent = recent_segments();
    if (!recent.empty()) return take(std::move(recent));
    if (SegmentPtr lent = run_->lent_after(cursor_)) return take({std::move(lent)});
    return {};
  }
  if (is_over()) return Batch{.state = Batch::State::ended};
  return Batch{.after = cursor_, .retry = std::exchange(retry_, {})};
}

Task<Subscription::Batch> Subscription::read_store() {
  auto read = co_await store_.read_events(run_->key(), cursor_, kReadBytesMax);
  if (!read) co_return Batch{.state = Batch::State::broken};
  run_->share(*read);
  // Committed segments can be missing only if the run was removed.
  if (read->empty()) co_return Batch{.state = Batch::State::broken};
  co_return take(std::move(*read));
}

Task<Subscription::Batch> Subscription::next(SteadyTime deadline) {
  while (!has_news()) {
    auto woken = co_await wakeup_.wait_until(deadline);
    if (woken == Wakeup::Woken::timed_out) co_return Batch{.state = Batch::State::idle};
  }
  std::optional<Batch> ready = take_ready();
  if (ready) co_return std::move(*ready);
  co_return co_await read_store();
}

}  // namespace errand::engine
