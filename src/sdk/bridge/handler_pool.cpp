#include "sdk/bridge/handler_pool.hpp"

#include <utility>

namespace errand::sdk {

HandlerPool::HandlerPool(std::size_t threads_max)
    : threads_max_(threads_max == 0 ? 1 : threads_max) {}

HandlerPool::~HandlerPool() {
  close();
}

bool HandlerPool::run(std::function<void()> work) {
  std::unique_lock lock(mutex_);
  if (is_closed_ || waiting_.size() >= kQueueMax) return false;
  waiting_.push_back(std::move(work));
  if (waiting_.size() > idle_ && threads_.size() < threads_max_) {
    threads_.emplace_back([this] { serve(); });
  }
  lock.unlock();
  changed_.notify_one();
  return true;
}

void HandlerPool::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return is_closed_ || !waiting_.empty(); });
    --idle_;
    if (is_closed_) return;
    std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
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
