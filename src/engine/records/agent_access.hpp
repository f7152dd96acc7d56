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

// Whether the caller may ask for this run or session. A caller that is restricted to agents runs
// them with their own system prompt, and brings no tools of the workspace (see kToolsUseScope).
// forbidden: it must not, or a header of a tool names a secret and the caller lacks
// kSecretsUseScope.
Result<void> check_asked(const Principal& who, const Spec& asked);

// The same for what a fork, or a message of a session, changes.
Result<void> check_overrides(const Principal& who, const SpecOverrides& overrides);

// Whether the caller may use a scope that it has. forbidden: a key that is restricted to agents
// changes none of them, nor the tools and secrets that agents are made of.
Result<void> check_scope_of_agents(const Principal& who, std::string_view scope);

// The scope of callers who may have the values of secrets sent to hosts that they name themselves.
inline constexpr std::string_view kSecretsUseScope = "secrets:use";

// The scope by which a caller that is restricted to agents may still use what the workspace has for
// all: its stored tools, plugins, configured MCP servers and rooms. Other callers need no scope for
// that.
inline constexpr std::string_view kToolsUseScope = "tools:use";
bool may_use_tools(const Principal& who);

}  // namespace errand::engine
