#include "sdk/bridge/handler_pool.hpp"

#include <system_error>
#include <utility>

namespace errand::sdk {
namespace {

thread_local HandlerPool* this_pool = nullptr;

}  // namespace

HandlerPool::HandlerPool(std::size_t threads_max)
    : threads_max_(threads_max == 0 ? 1 : threads_max) {}

HandlerPool::~HandlerPool() {
  close();
}

bool HandlerPool::run(std::function<void()> work) {
  std::unique_lock lock(mutex_);
  if (is_closed_ || waiting_.size() >= kQueueMax) return false;
  waiting_.push_back(std::move(work));
  add_thread();
  if (threads_.empty()) {
    waiting_.pop_back();
    return false;
  }
  lock.unlock();
  changed_.notify_one();
  return true;
}

// If the system cannot start another thread, the existing ones do the work.
void HandlerPool::add_thread() {
  bool is_needed = waiting_.size() > idle_ && threads_.size() < places();
  if (!is_needed) return;
  try {
    threads_.emplace_back([this] { serve(); });
  } catch (const std::system_error&) {
    return;
  }
}

void HandlerPool::serve() {
  this_pool = this;
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock,
                  [this] { return is_closed_ || (!waiting_.empty() && running_ < places()); });
    --idle_;
    if (is_closed_) return;
    std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    ++running_;
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
    --running_;
  }
}

HandlerPool::Waiting::Waiting() : pool_(this_pool) {
  if (!pool_) return;
  {
    std::lock_guard lock(pool_->mutex_);
    ++pool_->blocked_;
    if (!pool_->is_closed_) pool_->add_thread();
  }
  pool_->changed_.notify_one();
}

HandlerPool::Waiting::~Waiting() {
  if (!pool_) return;
  std::lock_guard lock(pool_->mutex_);
  --pool_->blocked_;
}

void HandlerPool::close() {
  std::deque<std::function<void()>> dropped;
  std::vector<std::thread> threads;
  {
    std::lock_guard lock(mutex_);
    is_closed_ = true;
    dropped.swap(waiting_);
    threads.swap(threads_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace errand::sdk
