#pragma once

#include <string>
#include <vector>

#include "async/task_group.hpp"
#include "engine/engine.hpp"
#include "mcp/server/server_features.hpp"
#include "run/tools/tool_decl.hpp"
#include "store/named_records.hpp"

namespace errand::server {

// A stored agent as MCP clients see it: a tool "agent_NAME" that takes a message.
struct AgentAsTool {
  std::string id;
  ToolDecl decl;
};

// The agents that the caller may run, by age, at most `limit`. `agents` outlives the task.
Task<Result<std::vector<AgentAsTool>>> agents_as_tools(NamedRecords* agents, Principal who,
                                                       std::size_t limit);

// They outlive the call.
struct AgentCallDeps {
  engine::Engine& engine;
  TaskGroup& cancelling;  // where the run of a caller that has left is cancelled
};

// Makes a run of the agent and waits for its end. The client gets the run's tool calls as progress.
// If the client cancels or leaves, the run is cancelled; if this process stops, the run goes on in
// the next one. `call` outlives the task. What keeps a run from being made is a failed result.
Task<Result<mcp::CallOutcome>> call_agent(AgentCallDeps deps, Principal who, std::string agent,
                                          std::string message, mcp::ServedCall* call);

}  // namespace errand::server
