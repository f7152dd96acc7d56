#include "tool/dispatch_order.hpp"

#include "base/assert.hpp"

namespace errand {

void DispatchOrder::add(Kind kind) {
  calls_.push_back({.kind = kind});
}

void DispatchOrder::finished(std::size_t index) {
  ERRAND_ASSERT(index < calls_.size());
  calls_[index].finished = true;
}

bool DispatchOrder::may_start(std::size_t index) const {
  ERRAND_ASSERT(index < calls_.size());
  bool waits_for_all = calls_[index].kind == Kind::barrier;
  for (std::size_t i = 0; i < index; ++i) {
    if (calls_[i].finished) continue;
    if (waits_for_all || calls_[i].kind == Kind::barrier) return false;
  }
  return true;
}

}  // namespace errand
