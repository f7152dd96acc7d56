#pragma once

#include <cstddef>
#include <list>

#include "async/task.hpp"
#include "async/wakeup.hpp"

namespace errand {

// Lets a few pass at a time on one home, first come first served. Outlives its passes and those who
// wait for one.
class Gate final {
 public:
  // Whoever holds one is inside.
  class Pass final {
   public:
    explicit Pass(Gate& gate) : gate_(&gate) {}
    ~Pass() {
      if (gate_) gate_->leave();
    }
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&& other) noexcept {
      std::swap(gate_, other.gate_);
      return *this;
    }

   private:
    Gate* gate_;
  };

  Gate(Executor home, std::size_t places) : home_(std::move(home)), free_(places) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  Task<Pass> enter();

 private:
  struct Visitor {
    Wakeup let_in;
    bool is_in = false;
  };
  class Waiting;

  void leave();

  const Executor home_;
  std::size_t free_;
  std::list<Visitor*> waiting_;
};

}  // namespace errand
