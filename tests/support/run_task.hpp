#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

#include "async/task.hpp"
#include "base/assert.hpp"

namespace errand {

// Runs the loop until `done` says so. A loop that runs dry before, or in which nothing happens for
// longer than any passing test needs, is a failure and not a hang.
inline void run_until(asio::io_context& io, const std::function<bool()>& done) {
  constexpr auto kStallMax = std::chrono::seconds(20);
  io.restart();
  while (!done()) {
    bool something_happened = io.run_one_for(kStallMax) > 0;
    ERRAND_ASSERT(something_happened);
  }
}

// Runs everything that is ready on the loop, without waiting for anything else.
inline void run_ready(asio::io_context& io) {
  io.restart();
  io.poll();
}

// Runs the loop until the task is done. What the task throws comes out here.
inline void run_task(asio::io_context& io, Task<void> task) {
  bool done = false;
  std::exception_ptr failure;
  asio::co_spawn(io, std::move(task), [&](std::exception_ptr thrown) {
    failure = std::move(thrown);
    done = true;
  });
  run_until(io, [&] { return done; });
  if (failure) std::rethrow_exception(failure);
}

namespace detail {

template <class T>
Task<void> keep_value(Task<T> task, std::optional<T>* value) {
  value->emplace(co_await std::move(task));
}

}  // namespace detail

// The same for a task that has a value.
template <class T>
T run_task(asio::io_context& io, Task<T> task) {
  std::optional<T> value;
  run_task(io, detail::keep_value(std::move(task), &value));
  return std::move(*value);
}

}  // namespace errand
