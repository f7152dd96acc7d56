#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <future>

#include "async/blocking_pool.hpp"

namespace errand {

// A pool whose only thread is taken until the test lets it go: whatever is done before that was not
// done on the pool.
class HeldPool final {
 public:
  HeldPool() {
    asio::co_spawn(io_, hold(&pool_, go_.get_future().share()), asio::detached);
    io_.poll();
  }
  ~HeldPool() { let_go(); }
  HeldPool(const HeldPool&) = delete;
  HeldPool& operator=(const HeldPool&) = delete;

  BlockingPool* get() { return &pool_; }
  void let_go() {
    if (!std::exchange(is_free_, true)) go_.set_value();
  }
  // Lets it go, and returns when everything that was given to it is done. What is to come of that
  // lies ready on its home then.
  void finish() {
    let_go();
    bool is_done = false;
    asio::co_spawn(io_, touch(&pool_, &is_done), asio::detached);
    io_.restart();
    while (!is_done) io_.run_one();
  }

 private:
  // The pool's one thread does this last.
  static Task<void> touch(BlockingPool* pool, bool* is_done) {
    [[maybe_unused]] auto touched = co_await pool->run([] { return Result<void>(); });
    *is_done = true;
  }
  static Task<void> hold(BlockingPool* pool, std::shared_future<void> go) {
    [[maybe_unused]] auto held = co_await pool->run([go] {
      go.wait();
      return Result<void>();
    });
  }

  asio::io_context io_;
  std::promise<void> go_;
  bool is_free_ = false;
  BlockingPool pool_{1, 100};
};

}  // namespace errand
