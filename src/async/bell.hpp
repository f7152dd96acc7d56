#pragma once

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <utility>

#include "async/deadline.hpp"
#include "async/wakeup.hpp"

namespace errand {

// The task's result, or cancelled once the doorbell rings: then the task is cancelled and has
// unwound before this returns. What the task throws comes out here.
template <class T>
Task<Result<T>> unless_rung(Wakeup* bell, Task<Result<T>> task) {
  using namespace asio::experimental::awaitable_operators;
  auto first = co_await (detail::outcome_of(std::move(task)) || bell->wait());
  if (first.index() == 1) co_return Error(ErrorCode::cancelled, "called off");
  auto& outcome = std::get<0>(first);
  if (outcome.thrown) std::rethrow_exception(outcome.thrown);
  co_return std::move(*outcome.result);
}

}  // namespace errand
