#include "tool/dispatch_order.hpp"

#include "base/assert.hpp"

namespace errand {

void DispatchOrder::add(Kind kind) {
  calls_.push_back({.kind = kind});
  advance();
}

void DispatchOrder::finished(std::size_t index) {
  ERRAND_ASSERT(index < calls_.size());
  calls_[index].finished = true;
  advance();
}

void DispatchOrder::advance() {
  auto is_open_barrier = [](const Entry& call) {
    return call.kind == Kind::barrier && !call.finished;
  };
  while (first_ < calls_.size() && calls_[first_].finished) ++first_;
  while (first_barrier_ < calls_.size() && !is_open_barrier(calls_[first_barrier_])) {
    ++first_barrier_;
  }
}

bool DispatchOrder::may_start(std::size_t index) const {
  ERRAND_ASSERT(index < calls_.size());
  return index <= (calls_[index].kind == Kind::barrier ? first_ : first_barrier_);
}

}  // namespace errand
