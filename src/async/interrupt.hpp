#pragma once

#include <functional>
#include <utility>

namespace errand {

// Lets others end what a task waits for, on one home. It stays raised: whoever comes to wait later
// asks is_raised() first.
class Interrupt final {
 public:
  Interrupt() = default;
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  void raise() {
    raised_ = true;
    if (end_wait_) end_wait_();
  }
  bool is_raised() const { return raised_; }

  // What ends the wait while this lives; `interrupt` may be null. They nest: the innermost counts.
  // `end_wait` must not end this scope itself.
  class Scope final {
   public:
    Scope(Interrupt* interrupt, std::function<void()> end_wait) : interrupt_(interrupt) {
      if (interrupt_) outer_ = std::exchange(interrupt_->end_wait_, std::move(end_wait));
    }
    ~Scope() {
      if (interrupt_) interrupt_->end_wait_ = std::move(outer_);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Interrupt* interrupt_;
    std::function<void()> outer_;
  };

 private:
  bool raised_ = false;
  std::function<void()> end_wait_;
};

}  // namespace errand
