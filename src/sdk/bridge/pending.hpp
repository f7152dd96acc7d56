#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "async/task.hpp"
#include "base/result.hpp"
#include "sdk/bridge/handler_pool.hpp"

namespace errand::sdk {

inline Error closed_error() {
  return {ErrorCode::cancelled, "the client is closed"};
}

// A result that a thread waits for, from the home.
template <class T>
class Pending final {
 public:
  // The first one counts.
  void set(Result<T> result) {
    {
      std::lock_guard lock(mutex_);
      if (!result_) result_.emplace(std::move(result));
    }
    changed_.notify_one();
  }

  Result<T> get() {
    HandlerPool::Waiting waiting;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return result_.has_value(); });
    return std::move(*result_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Result<T>> result_;
};

// Answers for a result that is to come: a task that is cut off, or never begins, drops it, and the
// thread learns that the core is closed.
template <class T>
class Promise final {
 public:
  explicit Promise(std::shared_ptr<Pending<T>> pending) : pending_(std::move(pending)) {}
  Promise(Promise&&) noexcept = default;
  Promise& operator=(Promise&&) = delete;
  ~Promise() {
    if (pending_) pending_->set(closed_error());
  }

  void set(Result<T> result) { pending_->set(std::move(result)); }

 private:
  std::shared_ptr<Pending<T>> pending_;
};

// The same without a thread that waits: it is called once, from the home, or by its last owner.
template <class T>
class Callback final {
 public:
  using Done = std::function<void(Result<T>)>;
  explicit Callback(Done done) : done_(std::move(done)) {}
  Callback(Callback&& other) noexcept : done_(std::exchange(other.done_, {})) {}
  Callback& operator=(Callback&&) = delete;
  ~Callback() {
    if (done_) done_(closed_error());
  }

  void set(Result<T> result) { std::exchange(done_, {})(std::move(result)); }

 private:
  Done done_;
};

template <class T>
Task<void> tell(Task<Result<T>> task, Callback<T> callback) {
  auto result = co_await std::move(task);
  callback.set(std::move(result));
}

template <class T>
Task<void> fill(Task<Result<T>> task, Promise<T> promise) {
  auto result = co_await std::move(task);
  promise.set(std::move(result));
}

}  // namespace errand::sdk
