#pragma once

#include <stdexcept>

namespace errand {

// A bug in Errand itself. It fails the task it happens in, not the process.
class AssertionFailed : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace errand

// Always on. For what a peer, a user or the environment can cause, return a Result instead.
#define ERRAND_ASSERT(condition) \
  ((condition) ? void(0) : ::errand::assertion_failed(#condition, __FILE__, __LINE__))
