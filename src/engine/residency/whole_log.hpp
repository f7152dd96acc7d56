#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/fold/state.hpp"
#include "async/blocking_pool.hpp"
#include "async/task.hpp"
#include "base/result.hpp"
#include "run/ids.hpp"
#include "store/store.hpp"

// The whole log of one run, for replays, forks and checks.
namespace errand::engine {

// All segments, read a few MB at a time. Tools that are kept beside the journal are put back into
// it: it is read as it was before it was stored. internal: they are lost or damaged; errand
// check-data tells more.
Task<Result<std::vector<SegmentPtr>>> read_whole_log(Store* store, RunKey run);

// The segments as they are stored.
Task<Result<std::vector<SegmentPtr>>> read_stored_log(Store* store, RunKey run);
Task<Result<void>> read_tools_back(Store* store, RunKey run, std::vector<SegmentPtr>* segments);

// The state that the journal of a run says. `brief` leaves out what the calls gave back, for
// readers that need only the run's progress. The journal is read a page at a time. Others run while
// a long one is folded, and its long lines are read on the pool (null: at home).
enum class Fold { whole, brief };
Task<Result<std::unique_ptr<agent::State>>> fold_run(Store* store, BlockingPool* pool, RunKey run,
                                                     Fold fold = Fold::whole);

std::string journal_of(const std::vector<SegmentPtr>& segments);

// What an event says of turns and calls.
struct EventFacts {
  EventSeq seq = 0;
  std::string type;
  int turn = -1;                    // of assistant_message and turn_restarted
  int attempt = 0;                  // of turn_restarted
  std::string call;                 // toolUseId of a call's event
  std::vector<std::string> listed;  // ids of the calls that an assistant_message lists
};

// Every event line of the log. internal: a line is none, and which.
Result<std::vector<EventFacts>> read_event_facts(const std::vector<SegmentPtr>& segments);
// Those of the next segment, behind those of the segments before it.
Result<void> add_event_facts(std::vector<EventFacts>& events, const Segment& segment);

}  // namespace errand::engine
