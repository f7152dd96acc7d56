#pragma once

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "async/completion.hpp"
#include "base/result.hpp"

namespace errand {

// Threads for calls that block (SQLite reads, files, DNS). Safe to call from any home. A home whose
// loop is left before it has run dry outlives the pool: its threads still post to it.
class BlockingPool final {
 public:
  BlockingPool(std::size_t threads, std::size_t queue_max);
  ~BlockingPool();  // joins; what is queued still runs
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  // Runs `work` (a function returning a Result) on a pool thread.
  // unavailable: `queue_max` calls run or wait already.
  template <class F>
  Task<std::invoke_result_t<F>> run(F work) {
    using R = std::invoke_result_t<F>;
    if (pending_.fetch_add(1) >= queue_max_) {
      pending_.fetch_sub(1);
      co_return Error(ErrorCode::unavailable, "too many calls wait for a blocking thread");
    }
    co_return co_await await_completion<R>(Start<F>{*this, std::move(work)});
  }

 private:
  template <class F>
  struct Start {
    BlockingPool& pool;
    F work;
    void operator()(Completion<std::invoke_result_t<F>> done) {
      asio::post(pool.threads_,
                 [&pool = pool, work = std::move(work), done = std::move(done)]() mutable {
                   auto result = guarded(work);
                   pool.pending_.fetch_sub(1);
                   done(std::move(result));
                 });
    }
  };

  // A bug on a pool thread must fail its caller, not the process.
  template <class F>
  static std::invoke_result_t<F> guarded(F& work) {
    try {
      return work();
    } catch (const std::exception& bug) {
      return Error(ErrorCode::internal, bug.what());
    }
  }

  const std::size_t queue_max_;
  std::atomic<std::size_t> pending_ = 0;
  asio::thread_pool threads_;
};

}  // namespace errand
