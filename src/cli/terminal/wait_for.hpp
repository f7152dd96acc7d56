#pragma once

#include <boost/asio/io_context.hpp>
#include <optional>
#include <utility>

#include "async/task_group.hpp"
#include "base/result.hpp"
#include "sdk/local_calls.hpp"

namespace errand::cli {

namespace detail {

template <class T>
Task<void> keep_result(Task<Result<T>> task, std::optional<Result<T>>* kept) {
  auto result = co_await std::move(task);
  kept->emplace(std::move(result));
}

}  // namespace detail

// Runs a loop until the task and whatever it has begun there come to their end. Blocks.
template <class T>
Result<T> wait_for(asio::io_context& io, Task<Result<T>> task) {
  std::optional<Result<T>> kept;
  TaskGroup tasks(io.get_executor(), sdk::report_bug);
  tasks.spawn("request", detail::keep_result(std::move(task), &kept));
  io.run();
  if (!kept) return Error(ErrorCode::internal, "the request came to no end");
  return std::move(*kept);
}

}  // namespace errand::cli
