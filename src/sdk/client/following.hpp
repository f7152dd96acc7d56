#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "async/wakeup.hpp"
#include "sdk/client/backend.hpp"
#include "sdk/client/event_queue.hpp"
#include "sdk/local_calls.hpp"
#include "sdk/run_stream.hpp"
#include "tool/tool_source.hpp"

namespace errand::sdk {

// Learns once how a run ended: by an end, by an error, or, if it is dropped, by `cancelled`.
class ReplyPromise final {
 public:
  using Done = std::function<void(v1::Result<v1::Reply>)>;
  explicit ReplyPromise(Done done) : done_(std::move(done)) {}
  ~ReplyPromise();
  ReplyPromise(const ReplyPromise&) = delete;
  ReplyPromise& operator=(const ReplyPromise&) = delete;

  void set(v1::Result<v1::Reply> reply);

 private:
  Done done_;
};

// A run that is followed: its calls are answered, and its events go into a queue for a thread of
// the program, or are read at home. Lives on the runner's home, save for events(). Stopped before
// it is destroyed.
class Following final : public std::enable_shared_from_this<Following> {
 public:
  struct Params {
    RunApi& api;
    Timers& timers;
    Executor home;
    RunId run;
    EventSeq after = 0;
    seconds patience = RunStream::kPatience;
    EventQueue::Keep keep = EventQueue::Keep::all;
    Teller tell;
    std::vector<ToolPtr> tools = {};  // with which calls are answered here
    bool answers = false;             // whether they are
    bool refuses_others = false;  // calls of other tools fail, rather than wait for another client
    std::optional<milliseconds> tool_timeout =
        {};                                 // for calls whose tool has no timeout, if it is known
    EventSeq calls_after = 0;               // calls of earlier events are not answered
    std::shared_ptr<void> lease = nullptr;  // released at the end
    std::shared_ptr<ReplyPromise> reply = nullptr;  // for callers without a waiting thread
    // Called at the end, on the home, once.
    std::function<void(std::shared_ptr<Following>)> on_end = {};
    RunStream::FirstFailure first_failure = RunStream::FirstFailure::is_retried;
  };
  explicit Following(Params params);

  // Begins to fill the queue.
  void start();
  // Instead of start(), for a reader on the home: the next event as the log has it (its call has
  // begun), or a notice of the connection.
  Task<Result<RunStream::Item>> next();
  // A call that waited before the run was followed.
  void answer(const LocalToolCall& call);
  // The user stops the run: calls that run are cut off, and once the run knows, answered as such.
  void cut_off() { calls_.cut_off(); }
  void give_up() { calls_.give_up(); }
  Task<void> stop();

  EventQueue& events() { return events_; }
  EventSeq last_seq() const { return stream_.last_seq(); }
  EventSeq calls_after() const { return params_.calls_after; }
  // How long a call that is answered here ran; nothing while it does.
  std::optional<milliseconds> took(const ToolUseId& call) const { return calls_.took(call); }
  const RunId& run() const { return params_.run; }

 private:
  Task<void> follow();
  // True: the run has ended.
  bool take(const RunStream::Item& item);
  void see_call(const StampedEvent& event);
  void end(std::optional<Error> error);

  Params params_;
  EventQueue events_;
  Wakeup room_;
  bool is_full_ = false;
  FixedTools tools_;
  RunStream stream_;
  LocalCalls calls_;
  TaskGroup tasks_;  // last: tasks use everything above
};

}  // namespace errand::sdk
