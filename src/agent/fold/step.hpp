#pragma once

#include <string>
#include <variant>

#include "agent/fold/output.hpp"
#include "agent/fold/state.hpp"
#include "json/schema_cache.hpp"
#include "llm/model.hpp"

namespace errand::agent {

// What a run has to do next. It follows from the state alone, so that a restarted process goes on
// exactly where the last one stopped.

// Ask the model, beginning with this entry.
struct Ask {
  TurnEntry entry;
};
// The turn broke after a call was closed: it stays as it is, cut after its last call.
struct Freeze {};
// Calls are open: start the calls that may start, then wait for the outcomes.
struct AwaitCalls {};
struct Finish {
  TerminalEntry terminal;
};
struct Ended {};
using Step = std::variant<Ask, Freeze, AwaitCalls, Finish, Ended>;

constexpr int kTurnAttemptsMax = 3;
// A run that brought the process down so often while nothing else was on trial is not tried again.
constexpr int kStrikesMax = 3;
// A call without a note that was running so often when a process ended is not made again.
constexpr int kCallResumesMax = 3;

// `last_seq` is the seq of the log's last event. `known` is the result of output_mistakes for the
// state, if the caller has it already.
Step next_step(const State& state, EventSeq last_seq, json::SchemaCache& schemas,
               const Mistakes* known = nullptr);

// The failure of the turn's calls with which the run ends, once the calls that this process makes
// are over. Calls that a client still works on do not hold up the end. nullptr: there is none.
const OutcomeEntry* fatal_outcome_of(const State& state);

// The vendor itself put an end to an answer: it refuses to give it, or filters it out.
bool ends_answer(const ModelFailure& failure);

// The run has gone on for longer than it may. A run that was cancelled before ends as cancelled.
Finish out_of_time(const State& state);

// The conversation has no room for another turn.
Finish too_long(const State& state);

// The same after a turn's model call failed. A turn that broke after its answer began is asked
// again while that may help; one without any answer was asked again by the model itself.
Step after_failure(const State& state, const llm::Failed& failed, EventSeq last_seq,
                   json::SchemaCache& schemas, const Mistakes* known = nullptr);

}  // namespace errand::agent
