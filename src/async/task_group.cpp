#include "async/task_group.hpp"

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace errand {

struct TaskGroup::Child {
  const char* name;
  asio::cancellation_signal cancel;
};

namespace {

// Begins from the home's loop, never inside spawn(). Asio starts a coroutine in the middle of the
// caller, and loses the end of one that is cancelled before it has given way once.
Task<void> begin_later(Task<void> task) {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await asio::post(asio::use_awaitable);
  co_await asio::this_coro::throw_if_cancelled(true);
  auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) co_return;
  co_await std::move(task);
}

}  // namespace

TaskGroup::TaskGroup(Executor home, OnBug on_bug)
    : home_(std::move(home)), on_bug_(std::move(on_bug)) {}

TaskGroup::~TaskGroup() {
  if (children_.empty()) return;
  std::fprintf(stderr, "errand: a task group was destroyed while \"%s\" still ran\n",
               children_.front()->name);
  std::abort();
}

void TaskGroup::spawn(const char* name, Task<void> task) {
  if (cancelled_) return;
  children_.push_back(std::make_unique<Child>());
  auto child = std::prev(children_.end());
  (*child)->name = name;
  asio::co_spawn(home_, begin_later(std::move(task)),
                 asio::bind_cancellation_slot((*child)->cancel.slot(),
                                              [this, child](std::exception_ptr failure) {
                                                finished(child, std::move(failure));
                                              }));
}

void TaskGroup::finished(Children::iterator child, std::exception_ptr failure) {
  const char* name = (*child)->name;
  children_.erase(child);
  if (children_.empty() && joining_) joining_->notify();
  if (!failure) return;
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& error) {
    if (error.code() != asio::error::operation_aborted) on_bug_(name, error.what());
  } catch (const std::exception& bug) {
    on_bug_(name, bug.what());
  }
}

void TaskGroup::cancel(CancelReason reason) {
  if (!cancelled_) cancelled_ = reason;
  // Emitting may finish a task at once and so change the list.
  std::vector<Child*> running;
  for (auto& child : children_) running.push_back(child.get());
  for (Child* child : running) {
    bool alive = std::any_of(children_.begin(), children_.end(),
                             [&](const auto& other) { return other.get() == child; });
    if (alive) child->cancel.emit(asio::cancellation_type::terminal);
  }
}

Task<void> TaskGroup::join() {
  WakeupAt empty(home_, joining_);
  while (!children_.empty()) co_await empty.wait();
}

Task<void> TaskGroup::stop(CancelReason reason) {
  cancel(reason);
  co_await join();
}

}  // namespace errand
