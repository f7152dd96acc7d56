#pragma once

#include <functional>
#include <string>
#include <vector>

#include "async/task.hpp"
#include "base/result.hpp"
#include "store/store.hpp"

namespace errand::engine {

// Whether what a store holds is what its logs say: every projection is rebuilt from the log of its
// run and compared. docs/wire/journal.md lists the rules.

// A rule that does not hold for a run.
struct Finding {
  RunId run;
  std::string rule;  // such as "row_status"
  std::string sentence;

  friend bool operator==(const Finding&, const Finding&) = default;
};

// Everything a store holds of a run.
struct StoredRun {
  RunRow row;
  std::vector<SegmentPtr> segments;
  std::vector<Mailbox> mail;
  std::vector<std::string> tools_hashes = {};  // of the tools that are kept beside the journal
};

struct CheckReport {
  std::size_t runs = 0;
  std::int64_t events = 0;
  std::vector<Finding> findings;
};

// Goes over all runs, of which one at a time is in memory. `on_progress` is called now and then. No
// other process may write to the store meanwhile. unavailable.
using OnProgress = std::function<void(const CheckReport& so_far)>;
Task<Result<CheckReport>> check_store(Store* store, OnProgress on_progress);

}  // namespace errand::engine
