#pragma once

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "async/task.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace errand {

// The task's result, or timeout: then the task is cancelled and has unwound before this returns.
template <class T>
Task<Result<T>> with_deadline(SteadyTime deadline, Task<Result<T>> task) {
  using namespace asio::experimental::awaitable_operators;
  asio::steady_timer timer(co_await asio::this_coro::executor, deadline);
  auto first = co_await (std::move(task) || timer.async_wait(as_result));
  if (first.index() == 0) co_return std::get<0>(std::move(first));
  co_return Error(ErrorCode::timeout, "the deadline passed");
}

}  // namespace errand
