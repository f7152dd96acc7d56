#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "async/task.hpp"
#include "base/assert.hpp"

namespace errand {

// The one thread of execution on which an actor (connection, run, engine) lives. Its state is
// touched only there; across homes go only messages by value. Cheap to copy.
class Home {
 public:
  explicit Home(asio::io_context& io) : executor_(io.get_executor()) {}

  Executor executor() const { return executor_; }
  bool is_here() const { return executor_.running_in_this_thread(); }

  template <class F>
  void post(F&& work) const {
    asio::post(executor_, std::forward<F>(work));
  }

 private:
  asio::io_context::executor_type executor_;
};

}  // namespace errand

// Debug builds check that an actor is touched on its own home only.
#ifdef NDEBUG
#define ERRAND_ASSERT_HOME(home) void(0)
#else
#define ERRAND_ASSERT_HOME(home) ERRAND_ASSERT((home).is_here())
#endif
