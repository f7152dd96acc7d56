#pragma once

#include <boost/asio/io_context.hpp>
#include <optional>
#include <utility>

#include "async/task_group.hpp"
#include "base/result.hpp"
#include "sdk/internal/tell_stderr.hpp"

namespace errand::sdk {

namespace detail {

template <class T>
Task<void> keep_result(Task<Result<T>> task, std::optional<Result<T>>* kept) {
  auto result = co_await std::move(task);
  kept->emplace(std::move(result));
}

template <class T>
Result<T> result_of(std::optional<Result<T>> kept) {
  if (!kept) return Error(ErrorCode::internal, "the request did not finish");
  return std::move(*kept);
}

}  // namespace detail

// Runs a loop until the task and whatever it has begun there come to their end. Blocks.
template <class T>
Result<T> wait_for(asio::io_context& io, Task<Result<T>> task) {
  std::optional<Result<T>> kept;
  TaskGroup tasks(io.get_executor(), report_bug);
  tasks.spawn("request", detail::keep_result(std::move(task), &kept));
  io.run();
  return detail::result_of(std::move(kept));
}

// Runs a loop until the task comes to its end; what else lives there goes on with the next wait.
// Blocks.
template <class T>
Result<T> run_until(asio::io_context& io, Task<Result<T>> task) {
  std::optional<Result<T>> kept;
  TaskGroup tasks(io.get_executor(), report_bug);
  tasks.spawn("request", detail::keep_result(std::move(task), &kept));
  // A loop that has run dry was stopped by that.
  io.restart();
  while (tasks.size() > 0 && io.run_one() > 0) {
  }
  io.poll();
  return detail::result_of(std::move(kept));
}

}  // namespace errand::sdk
