#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "async/task_group.hpp"
#include "async/wakeup.hpp"
#include "base/result.hpp"

namespace errand::engine {

template <class T>
struct ShieldedWork {
  explicit ShieldedWork(Executor home) : done(std::move(home)) {}
  std::optional<Result<T>> result;
  Wakeup done;
};

template <class T>
Task<void> do_shielded(Task<Result<T>> work, std::shared_ptr<ShieldedWork<T>> shared) {
  shared->result = co_await std::move(work);
  shared->done.notify();
}

// Waits for work that goes on when the waiter is cut off: it is a task of `owner`.
template <class T>
Task<Result<T>> shielded(TaskGroup* owner, const char* name, Task<Result<T>> work) {
  auto shared = std::make_shared<ShieldedWork<T>>(co_await asio::this_coro::executor);
  owner->spawn(name, do_shielded(std::move(work), shared));
  while (!shared->result) co_await shared->done.wait();
  co_return std::move(*shared->result);
}

}  // namespace errand::engine
