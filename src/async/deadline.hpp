#pragma once

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <exception>
#include <optional>
#include <utility>

#include "async/task.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace errand {

namespace detail {

// How a task ended: with a result, or by an exception.
template <class T>
struct Outcome {
  std::optional<Result<T>> result;
  std::exception_ptr thrown;
};

// `||` passes over a branch that throws and waits for the other one; caught, a bug ends the wait.
template <class T>
Task<Outcome<T>> outcome_of(Task<Result<T>> task) {
  Outcome<T> outcome;
  try {
    outcome.result = co_await std::move(task);
  } catch (...) {
    outcome.thrown = std::current_exception();
  }
  co_return outcome;
}

}  // namespace detail

// The task's result, or timeout: then the task is cancelled and has unwound before this returns.
// What the task throws comes out here.
template <class T>
Task<Result<T>> with_deadline(SteadyTime deadline, Task<Result<T>> task) {
  using namespace asio::experimental::awaitable_operators;
  SteadyTimer timer(co_await asio::this_coro::executor, deadline);
  auto first = co_await (detail::outcome_of(std::move(task)) || timer.async_wait(as_result));
  if (first.index() == 1) co_return Error(ErrorCode::timeout, "the deadline passed");
  auto& outcome = std::get<0>(first);
  if (outcome.thrown) std::rethrow_exception(outcome.thrown);
  co_return std::move(*outcome.result);
}

}  // namespace errand
