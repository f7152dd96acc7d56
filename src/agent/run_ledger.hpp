#pragma once

#include "run/ids.hpp"
#include "run/log/event.hpp"

namespace errand::agent {

// Adds up what runs have used. Lives on the home of the runs.
class RunLedger {
 public:
  virtual ~RunLedger() = default;
  // A run that this key has asked for has ended durably; once for each run.
  virtual void add(const KeyId& key, const RunTotals& totals) = 0;
};

}  // namespace errand::agent
