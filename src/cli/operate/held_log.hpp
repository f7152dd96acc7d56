#pragma once

#include "base/descriptor.hpp"
#include "base/log.hpp"

namespace errand::cli {

// A log whose lines are held back until a start has succeeded: a start that fails says why in one
// sentence of its own. Lines that nobody releases are dropped.
class HeldLog final {
 public:
  HeldLog(const Clock& clock, LogFormat format, LogLevel least);

  Log& log() { return log_; }
  // Writes what was held back to stderr; from now on lines go there at once. Any thread may write
  // meanwhile.
  void release();

 private:
  Descriptor lines_;  // a file in memory, and then stderr
  Log log_;
};

}  // namespace errand::cli
