#pragma once

#include <string_view>

#include "base/result.hpp"
#include "run/fork.hpp"
#include "run/principal.hpp"
#include "run/tools/tool_set.hpp"
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
// forbidden: the caller has to run its agents with their own system prompt, or gives tools that it
// must not give (see check_secrets).
Result<void> check_overrides(const Principal& who, const SpecOverrides& overrides);

// The same for messages of a run's caller: those of the system are added to the system prompt.
// forbidden: the caller has to run its agents with their own system prompt.
Result<void> check_messages(const Principal& who, const std::vector<Message>& messages);

// Whether the caller may use a scope that it has. forbidden: a key that is restricted to agents
// changes none of them, nor the tools and secrets that agents are made of.
Result<void> check_scope_of_agents(const Principal& who, std::string_view scope);

// The scope of callers who may have the values of secrets sent to hosts that they name themselves.
inline constexpr std::string_view kSecretsUseScope = "secrets:use";

// Whether the caller may give these tools with a run, a session or a message. forbidden: a header
// of a tool names a secret, and the caller lacks kSecretsUseScope. A key that is restricted to
// agents has it only if its scopes say so.
Result<void> check_secrets(const Principal& who, const ToolSet& tools);

}  // namespace errand::engine
