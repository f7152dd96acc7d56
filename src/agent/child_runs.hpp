#pragma once

#include "async/task.hpp"
#include "base/result.hpp"
#include "run/ids.hpp"

namespace errand::agent {

// The runs that the calls of stored agents begin. Lives on the engine's home.
class ChildRuns {
 public:
  virtual ~ChildRuns() = default;
  // Asks the run to stop; durable when it returns. A run that has ended, or was never created,
  // needs nothing. A run that is being created is waited for.
  virtual Task<Result<void>> cancel_child(RunKey child) = 0;
};

}  // namespace errand::agent
