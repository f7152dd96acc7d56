#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <memory>
#include <utility>

#include "async/task.hpp"

namespace errand {

// Posts from another thread. A loop ends when it has nothing left to do, and with it perhaps all
// that a call is still using: so the call itself is something to do.
template <class F>
void post_from_outside(const Executor& home, F work) {
  auto calling = asio::make_work_guard(home);
  asio::post(home, std::move(work));
}

// A task that waits for a result, in the hands of another thread. Its home does not end before it.
// Everything of a home must go back to it and end there: whoever holds a Waiter moves it into what
// is posted to its home (post_from_outside).
template <class T>
class Waiter final {
 public:
  template <class Handler>
  explicit Waiter(Handler handler)
      : home_(asio::get_associated_executor(handler)),
        task_(std::make_unique<Suspended<Handler>>(std::move(handler))) {}

  Executor home() const { return home_.get_executor(); }

  // Once, at home: the task goes on within this call.
  void resume(T result) { std::exchange(task_, nullptr)->resume(std::move(result)); }

 private:
  struct AnySuspended {
    virtual ~AnySuspended() = default;
    virtual void resume(T result) = 0;
  };
  template <class Handler>
  struct Suspended final : AnySuspended {
    explicit Suspended(Handler of) : handler(std::move(of)) {}
    void resume(T result) override { handler(std::move(result)); }
    Handler handler;
  };

  asio::executor_work_guard<Executor> home_;
  std::unique_ptr<AnySuspended> task_;
};

// Calls start(Waiter<T>) and waits until it is resumed. One that is dropped instead leaves the task
// waiting until its home is destroyed.
template <class T, class Start>
Task<T> await_resumption(Start start) {
  co_return co_await asio::async_initiate<const asio::use_awaitable_t<Executor>, void(T)>(
      [](auto handler, Start begin) { begin(Waiter<T>(std::move(handler))); }, use_task,
      std::move(start));
}

// What another thread calls, once, to hand over a result. The waiting task goes on at its own home.
template <class T>
using Completion = std::function<void(T)>;

// Calls start(Completion<T>) and waits until the completion is called.
template <class T, class Start>
Task<T> await_completion(Start start) {
  return await_resumption<T>([start = std::move(start)](Waiter<T> waiter) mutable {
    start([waiting = std::make_shared<Waiter<T>>(std::move(waiter))](T result) mutable {
      const Executor home = waiting->home();
      post_from_outside(home, [waiting = std::move(waiting), result = std::move(result)]() mutable {
        auto resumed = std::move(waiting);
        resumed->resume(std::move(result));
      });
    });
  });
}

}  // namespace errand
