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
  auto executor = asio::get_associated_executor(handler);
  auto work = asio::make_work_guard(executor);
  auto shared = std::make_shared<Handler>(std::move(handler));
  return [shared, executor, work](T result) {
    asio::post(executor,
               [shared, result = std::move(result)]() mutable { (*shared)(std::move(result)); });
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
