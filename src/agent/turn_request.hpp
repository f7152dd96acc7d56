#pragma once

#include <memory>

#include "agent/fold/state.hpp"
#include "llm/model.hpp"

namespace errand::agent {

// What the model is asked in the state's current turn. The request shares the conversation with the
// state and may outlive it. A vendor that refused the run's output schema gets the schema in words,
// as part of the system prompt; the rest of the request is the same.
llm::TurnRequest make_turn_request(const State& state, std::shared_ptr<const llm::TurnFiles> files);

}  // namespace errand::agent
