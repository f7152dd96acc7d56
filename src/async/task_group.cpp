#include "async/task_group.hpp"

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

// Starts the task from the home's loop, never inside spawn(). Asio would start the coroutine in the
// middle of its caller, and would lose the end of a coroutine that is cancelled before it first
// suspends.
Task<void> begin_later(Task<void> task) {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await asio::post(use_task);
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
               children_.begin()->second->name);
  std::abort();
}

TaskGroup::Ticket TaskGroup::spawn(const char* name, Task<void> task) {
  const Ticket ticket = next_ticket_++;
  if (cancelled_) return ticket;
  std::unique_ptr<Child>& child = children_[ticket];
  child = std::make_unique<Child>();
  child->name = name;
  asio::co_spawn(home_, begin_later(std::move(task)),
                 asio::bind_cancellation_slot(child->cancel.slot(),
                                              [this, ticket](std::exception_ptr failure) {
                                                finished(ticket, std::move(failure));
                                              }));
  return ticket;
}

void TaskGroup::finished(Ticket ticket, std::exception_ptr failure) {
  auto child = children_.find(ticket);
  const char* name = child->second->name;
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
  // Emitting may finish tasks at once, so the next task is looked up by its ticket.
  for (auto child = children_.begin(); child != children_.end();) {
    const Ticket ticket = child->first;
    child->second->cancel.emit(asio::cancellation_type::terminal);
    child = children_.upper_bound(ticket);
  }
}

void TaskGroup::cancel_one(Ticket ticket) {
  auto child = children_.find(ticket);
  if (child != children_.end()) child->second->cancel.emit(asio::cancellation_type::terminal);
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
