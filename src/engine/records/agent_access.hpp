#pragma once

#include <string_view>

#include "base/result.hpp"
#include "run/fork.hpp"
#include "run/principal.hpp"
#include "store/named_records.hpp"

namespace errand::engine {

// A key may be restricted to some agents, which it names by id or by name.

// Whether the caller may run the agent. `agent` is the record with the id or name `asked`; an agent
// that the key must not run and an agent that does not exist look the same.
bool may_run(const Principal& who, std::string_view asked, const Result<NamedRecord>& agent);

// forbidden: the caller must not run this agent.
Error agent_not_allowed(std::string_view agent);

// Whether the caller may run something without a stored agent. forbidden: it must not.
Result<void> check_may_run_without_agent(const Principal& who);

// A run that goes on from another one, or a message of a session, may change the agent.
// forbidden: the caller has to run its agents with their own system prompt.
Result<void> check_overrides(const Principal& who, const SpecOverrides& overrides);

}  // namespace errand::engine
