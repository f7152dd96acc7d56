#pragma once

#include <string>

#include "async/task.hpp"

namespace errand {

// Asks whoever is responsible before something is done that cannot be undone.
class Approver {
 public:
  virtual ~Approver() = default;
  // Whether the user lets this be done; `what` is one line, safe to show.
  virtual Task<bool> approve(std::string what) = 0;
};

}  // namespace errand
