#pragma once

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
// queue. Safe to call from any thread.
class HandlerPool final {
 public:
  static constexpr std::size_t kQueueMax = 10'000;

  explicit HandlerPool(std::size_t threads_max);
  ~HandlerPool();  // close()
  HandlerPool(const HandlerPool&) = delete;
  HandlerPool& operator=(const HandlerPool&) = delete;

  // Runs `work`, which throws nothing, on a thread of the pool. False: kQueueMax of them wait
  // already, or the pool is closed.
  [[nodiscard]] bool run(std::function<void()> work);

  // Drops what waits, and returns once nothing runs. Not from a thread of the pool.
  void close();

 private:
  void serve();

  const std::size_t threads_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::size_t idle_ = 0;
  bool is_closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace errand::sdk
