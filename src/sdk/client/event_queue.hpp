#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include <errand/event.hpp>

namespace errand::sdk {

// The events of a run on their way from its home to the thread that reads them. Safe to call from
// any thread; one thread reads.
class EventQueue final {
 public:
  enum class Keep { all, end_only };

  // `on_room` is called, from the reader's thread, when a queue that was full is empty again.
  EventQueue(Keep keep, std::function<void()> on_room)
      : keep_(keep), on_room_(std::move(on_room)) {}

  // False: the queue is full for now; it has taken the event all the same.
  bool push(v1::Event event);
  // Nothing comes any more: all is said, or the error is. The first call counts.
  void finish(std::optional<v1::Error> error);
  // The reader is gone: what comes is dropped.
  void abandon();

  using Next = v1::Result<std::optional<v1::Event>>;
  // Waits for the next event; nothing after the last one.
  Next next();
  // Tells of the next event when it is there, from whichever thread brings it; of an error
  // (conflict) if the one before is still waited for.
  void next_async(std::function<void(Next)> done);

 private:
  // What there is for the reader. Nothing: it has to wait.
  std::optional<Next> take();
  // Tells a reader that waits without a thread.
  void tell_reader();

  const Keep keep_;
  const std::function<void()> on_room_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<v1::Event> events_;
  std::optional<v1::Error> error_;
  bool is_finished_ = false;
  bool is_abandoned_ = false;
  bool was_full_ = false;
  std::function<void(Next)> waiting_;

  std::deque<v1::Event> taken_;  // by the reader
};

}  // namespace errand::sdk
