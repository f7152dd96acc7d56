#pragma once

#include <boost/asio/post.hpp>
#include <utility>

#include "async/task.hpp"

namespace errand {

// Calls `then` at home, after all that is ready there now: what is posted, and what the sockets
// have brought. A loop looks at its sockets once a round and does in the next one what it has
// found; by then the answers of peers are often there, so a second round is worth its microsecond.
template <class F>
void post_after_ready(const Executor& home, F then, int rounds = 2) {
  asio::post(home, [home, then = std::move(then), rounds]() mutable {
    if (rounds == 0) return then();
    post_after_ready(home, std::move(then), rounds - 1);
  });
}

}  // namespace errand
