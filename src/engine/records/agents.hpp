#pragma once

#include <array>
#include <string>
#include <string_view>

#include "async/blocking_pool.hpp"
#include "async/task.hpp"
#include "base/result.hpp"
#include "engine/records/secret_vault.hpp"
#include "json/value.hpp"
#include "run/spec.hpp"
#include "store/named_records.hpp"

namespace errand::engine {

// A stored agent is a named record whose body is JSON: the members of a run's spec, save what a run
// is asked, and a description for people.

constexpr std::size_t kAgentDescriptionCharsMax = 2000;

// What a request wants to store.
struct AgentParams {
  std::string name;
  std::string body;          // of the record
  bool has_headers = false;  // of tools, or the token of a room: they may have to be sealed
};

// The members that such a body may have. Only the server sets the last four.
inline constexpr auto kAgentMembers = std::to_array<std::string_view>(
    {"name", "description", "modelId", "systemPrompt", "tools", "metadata", "budgets",
     "loopDetection", "toolBudgets", "reasoningLevel", "outputSchema", "fallbackModelId",
     "retainTools", "room", "requiredToolkits", "id", "version", "createdAt", "updatedAt"});

// The body of a request that creates or replaces an agent. `name` is the agent's if the body has
// none. invalid_argument: with the pointer.
Result<AgentParams> parse_agent(const json::Value& body, std::string_view name = "");

// The same agent with the headers of its tools sealed. A long one is read and written on the pool
// (nullptr: at home). `vault` and `pool` outlive the task.
Task<Result<AgentParams>> sealed_agent(SecretVault* vault, BlockingPool* pool,
                                       WorkspaceSlug workspace, AgentParams agent);

// {"id","name","version","createdAt","updatedAt", ...members}
Result<json::Object> agent_json(const NamedRecord& agent);

// The spec of a run, or of a session, that an agent carries out. The agent's system prompt wins.
// The tools of both are there; a tool of the run takes the place of the agent's with the same name.
// All other members of the agent are defaults that the run can override. The spec names the version
// of the agent.
// internal: the record is damaged.
Result<Spec> with_agent(Spec asked, const NamedRecord& agent);

// What the agent's runs and sessions are labelled with, given its id or name. An agent that was
// deleted is found by its id alone. `agents` outlives the task.
Task<Result<std::string>> label_of_agent(NamedRecords* agents, WorkspaceSlug workspace,
                                         std::string asked);

// Metadata of which later pairs win.
Metadata merged_metadata(Metadata metadata, const Metadata& more);

// The tools of an agent and of its run. A tool of the run takes the place of the agent's with the
// same name. A room is not a tool, whatever its name.
ToolSetPtr merged_tools(const ToolSetPtr& agents, const ToolSetPtr& runs);

}  // namespace errand::engine
