#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <memory>
#include <utility>

#include "async/task.hpp"

namespace errand {

// What another thread calls, once, to hand over a result. The waiting task goes on at its own home.
template <class T>
using Completion = std::function<void(T)>;

namespace detail {

template <class T, class Handler>
Completion<T> make_completion(Handler handler) {
  struct Waiting {
    Handler handler;
    asio::executor_work_guard<asio::associated_executor_t<Handler>> work;
  };
  auto work = asio::make_work_guard(asio::get_associated_executor(handler));
  auto waiting = std::make_shared<Waiting>(std::move(handler), std::move(work));
  return [waiting](T result) mutable {
    // Everything of the home goes back to it and ends there; nothing of it stays with the caller.
    auto home = waiting->work.get_executor();
    asio::post(home, [waiting = std::move(waiting), result = std::move(result)]() mutable {
      auto resumed = std::move(waiting);
      resumed->handler(std::move(result));
    });
  };
}

}  // namespace detail

// Calls start(Completion<T>) and waits until the completion is called. A completion that is dropped
// uncalled leaves the task waiting until its home is destroyed.
template <class T, class Start>
Task<T> await_completion(Start start) {
  co_return co_await asio::async_initiate<const asio::use_awaitable_t<>, void(T)>(
      [](auto handler, Start begin) { begin(detail::make_completion<T>(std::move(handler))); },
      asio::use_awaitable, std::move(start));
}

}  // namespace errand
