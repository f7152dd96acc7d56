#pragma once

#include <boost/asio/post.hpp>
#include <cstddef>

#include "async/task.hpp"

namespace errand {

// Lets everything that is ready on this home have its turn.
inline Task<void> let_others_run() {
  co_await asio::post(co_await asio::this_coro::executor, use_task);
}

// Keeps long work on a home from holding up everybody else there: the work says what it has done,
// and others have their turn whenever that comes to `between`. Counts instead of looking at a
// clock, so that the same work always pauses at the same places.
class Breath final {
 public:
  explicit Breath(std::size_t between) : between_(between) {}

  // Whether it is time to let others run.
  bool is_due(std::size_t done) {
    done_ += done;
    if (done_ < between_) return false;
    done_ = 0;
    return true;
  }

 private:
  const std::size_t between_;
  std::size_t done_ = 0;
};

// What is parsed or written of JSON in a millisecond or less.
constexpr std::size_t kBytesInABreath = 256U * 1024;

}  // namespace errand
