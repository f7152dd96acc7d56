#pragma once

#include <list>
#include <memory>
#include <utility>

#include "async/wakeup.hpp"

namespace errand::cli {

// Lets one task through at a time, in the order in which they come. Lives on one home and outlives
// its passes.
class Gate final {
 public:
  // Held by the task that has passed; the next one may pass when it is destroyed.
  class Pass final {
   public:
    explicit Pass(Gate& gate) : gate_(&gate) {}
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_) gate_->leave();
    }

   private:
    Gate* gate_;
  };

  Task<Pass> enter() {
    if (!is_taken_ && waiting_.empty()) co_return take();
    Waiting me(*this, co_await asio::this_coro::executor);
    while (is_taken_ || !me.is_next()) co_await me.wait();
    co_return take();
  }

 private:
  // One who waits. If it is called off after it was woken, the next one is.
  class Waiting final {
   public:
    Waiting(Gate& gate, Executor home) : gate_(gate), wakeup_(std::move(home)) {
      place_ = gate_.waiting_.insert(gate_.waiting_.end(), &wakeup_);
    }
    ~Waiting() {
      gate_.waiting_.erase(place_);
      gate_.wake_next();
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    bool is_next() const { return gate_.waiting_.front() == &wakeup_; }
    Task<void> wait() { return wakeup_.wait(); }

   private:
    Gate& gate_;
    Wakeup wakeup_;
    std::list<Wakeup*>::iterator place_;
  };

  Pass take() {
    is_taken_ = true;
    return Pass(*this);
  }
  void leave() {
    is_taken_ = false;
    wake_next();
  }
  void wake_next() {
    if (!is_taken_ && !waiting_.empty()) waiting_.front()->notify();
  }

  std::list<Wakeup*> waiting_;
  bool is_taken_ = false;
};

}  // namespace errand::cli
