#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace errand::sdk {

// Threads for a program's own code, which may block for as long as it likes. A thread is started
// when none is idle, so that calls run beside each other; what goes beyond `threads_max` waits in a
// queue. A thread that waits for other work of the program (Waiting) does not count: a handler may
// run an agent whose handlers need threads, too. Safe to call from any thread.
class HandlerPool final {
 public:
  static constexpr std::size_t kQueueMax = 10'000;
  // Waiting threads beyond this number do count.
  static constexpr std::size_t kWaitingMax = 1'000;

  // While it lives, this thread waits for other work of the program. Does nothing on threads that
  // are not a pool's.
  class Waiting final {
   public:
    Waiting();
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    HandlerPool* const pool_;
  };

  explicit HandlerPool(std::size_t threads_max);
  ~HandlerPool();  // close()
  HandlerPool(const HandlerPool&) = delete;
  HandlerPool& operator=(const HandlerPool&) = delete;

  // Runs `work`, which throws nothing, on a thread of the pool. False: kQueueMax of them wait
  // already, the pool is closed, or the system gives it no thread.
  [[nodiscard]] bool run(std::function<void()> work);

  // Drops what waits, and returns once nothing runs. Not from a thread of the pool.
  void close();

 private:
  void serve();
  // Under the mutex.
  std::size_t places() const { return threads_max_ + std::min(blocked_, kWaitingMax); }
  void add_thread();

  const std::size_t threads_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::size_t idle_ = 0;
  std::size_t running_ = 0;  // threads that run something
  std::size_t blocked_ = 0;  // of these, the threads that wait for other work
  bool is_closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace errand::sdk
