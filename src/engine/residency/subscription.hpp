#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "async/task.hpp"
#include "async/wakeup.hpp"
#include "base/reader_budget.hpp"
#include "base/sparse.hpp"
#include "engine/residency/live_run.hpp"
#include "run/model_retry.hpp"
#include "store/store.hpp"

namespace errand::engine {

// One reader of a run's events, from any point on: first from the store, then live. A reader that
// falls behind goes back to the store; it never holds up the run or another reader.
// Lives on the engine's home.
class Subscription final {
 public:
  // Live segments that may wait for the reader; past it they are dropped and read from the store.
  static constexpr std::size_t kQueueBytesMax = 256 * 1024;
  static constexpr std::size_t kReadBytesMax = 256 * 1024;

  Subscription(Store& store, ReaderBudget& budget, std::shared_ptr<LiveRun> run, EventSeq after,
               Executor home);
  ~Subscription();
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  struct Batch {
    enum class State {
      more,
      idle,   // nothing came until the deadline
      ended,  // the terminal event is in it, or was before
      broken  // interrupted, or the store does not answer
    };
    State state = State::more;
    EventSeq after = 0;  // skip events up to this one: the first segment may begin before it
    std::vector<SegmentPtr> segments;
    Sparse<ModelRetry> retry = {};  // in place of segments, see hear_retries()
  };
  // Waits until there are events, then takes all that are there.
  Task<Batch> next(SteadyTime deadline);
  // From now on, a pause of the model is a batch of its own, behind the events that are there. It
  // may be over by then.
  void hear_retries();

  // Goes back to the store for everything after this event, which was taken before.
  void rewind(EventSeq after);
  // That all readers share.
  ReaderBudget& budget() { return budget_; }

  // Whether the run has ended and the reader has everything.
  bool is_over() const;

  // Makes a pending next() return `broken`.
  void interrupt();

  // Called by the run.
  void push(const SegmentPtr& segment);
  void push_retry(const ModelRetry& retry);
  void wake() { wakeup_.notify(); }

 private:
  bool has_news() const;
  std::optional<Batch> take_ready();
  Task<Batch> read_store();
  Batch take(std::vector<SegmentPtr> segments);
  void drop_queue();
  std::vector<SegmentPtr> recent_segments() const;

  Store& store_;
  ReaderBudget& budget_;
  std::shared_ptr<LiveRun> run_;
  EventSeq cursor_;     // everything up to here has been taken
  EventSeq queue_end_;  // last seq in the queue, or cursor_
  std::vector<SegmentPtr> queue_;
  ReaderBudget::Share queue_bytes_;
  bool hears_retries_ = false;
  Sparse<ModelRetry> retry_;  // heard, and not taken yet
  bool interrupted_ = false;
  Wakeup wakeup_;
};

}  // namespace errand::engine
