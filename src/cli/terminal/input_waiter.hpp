#pragma once

#include <atomic>

#include "base/descriptor.hpp"

namespace errand::cli {

// Waits for input on one thread, and can be woken by another.
class InputWaiter final {
 public:
  InputWaiter();

  enum class Found { input, interruption, redraw };
  // Blocks until there is input, or its end, or wake() was called. Wakings come first.
  Found wait(int fd);

  // From any thread.
  void wake(Found why);
  // Forgets an interruption that came too late for the last read. Call before the next one starts.
  void forget_interruption() { is_interrupted_ = false; }

 private:
  Descriptor bell_;
  std::atomic<bool> is_interrupted_ = false;
  std::atomic<bool> is_redraw_wanted_ = false;
};

}  // namespace errand::cli
