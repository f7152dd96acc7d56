#include "async/blocking_pool.hpp"

namespace errand {

BlockingPool::BlockingPool(std::size_t threads, std::size_t queue_max)
    : queue_max_(queue_max), threads_(threads) {}

BlockingPool::~BlockingPool() {
  threads_.join();
}

}  // namespace errand
