#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "async/task.hpp"
#include "async/wakeup.hpp"

namespace errand {

enum class CancelReason : std::uint8_t { client_gone, user_stop, deadline, shutdown };

// The owner of tasks that run beside each other on one home. Make it the last member of whatever
// the tasks use. It must be stopped, or have run empty, before it is destroyed.
class TaskGroup final {
 public:
  // Told of a task that ended with an exception, which is always a bug.
  using OnBug = std::function<void(const char* task, const std::string& what)>;

  TaskGroup(Executor home, OnBug on_bug);
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Names one task of the group.
  using Ticket = std::uint64_t;

  // Starts a task from the home's loop, after the caller has given way; `name` is a literal. After
  // cancel() the task is dropped unstarted.
  Ticket spawn(const char* name, Task<void> task);

  // Asks every task to unwind at its next co_await. Call on the home.
  void cancel(CancelReason reason);
  // The same for one task; a task that has ended is nobody's business.
  void cancel_one(Ticket ticket);
  std::optional<CancelReason> cancelled() const { return cancelled_; }

  // Returns once no task is left. One waiter at a time.
  Task<void> join();
  Task<void> stop(CancelReason reason);

  std::size_t size() const { return children_.size(); }

 private:
  struct Child;
  using Children = std::map<Ticket, std::unique_ptr<Child>>;
  void finished(Ticket ticket, std::exception_ptr failure);

  Executor home_;
  OnBug on_bug_;
  Children children_;
  Ticket next_ticket_ = 1;
  std::optional<CancelReason> cancelled_;
  Wakeup* joining_ = nullptr;  // rung when the last task ends
};

}  // namespace errand
