#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/records/agent_access.hpp"
#include "engine/schema_work.hpp"
#include "json/schema_cache.hpp"
#include "mcp/server/server_features.hpp"
#include "server/mcp/agent_call.hpp"
#include "tool/tool_caller.hpp"
#include "tool/tool_source.hpp"

namespace errand::server {

// What features of workspaces are made with. Outlives them.
struct WorkspaceDeps {
  engine::Engine& engine;
  const ToolSources& tools;
  ToolCaller& caller;
  SharedSchemas schemas;
  TaskGroup& cancelling;  // where runs of callers that have left are cancelled
};

// What clients of a workspace see of it, whichever server offers it.
mcp::ServerOffer workspace_offer();

// A workspace as an MCP client sees it: its tools, which are called outside of any run, its agents,
// each of whose calls is a run, and the logs of its runs as resources ("errand://runs/RUN/events").
// A key that is restricted to agents gets tools only with engine::kToolsUseScope. Agents need the
// scope "runs:write", and logs need "runs:read".
class WorkspaceFeatures final : public mcp::ServerFeatures {
 public:
  static constexpr std::size_t kListedRunsMax = 100;  // the newest; others are read by their URI
  static constexpr std::size_t kAgentsMax = 500;      // the oldest; others are no tools
  static constexpr std::size_t kLogBytesMax = 4U * 1024 * 1024;  // of one log; the rest is cut

  WorkspaceFeatures(const WorkspaceDeps& deps, Principal who) : deps_(deps), who_(std::move(who)) {}

  mcp::ServerOffer offer() const override { return workspace_offer(); }
  Task<Result<std::vector<mcp::Tool>>> tools() override;
  Task<Result<mcp::CallOutcome>> call_tool(mcp::ServeToolParams params,
                                           mcp::ServedCall* call) override;
  Task<Result<std::vector<mcp::Resource>>> resources() override;
  Task<Result<std::vector<mcp::ResourceTemplate>>> resource_templates() override;
  Task<Result<std::vector<mcp::EmbeddedResource>>> read_resource(std::string uri,
                                                                 mcp::ServedCall* call) override;

 private:
  // What is wrong with the arguments, in words for their sender; empty if they fit.
  // invalid_argument with the reason "too_complex": to find out takes too much work.
  Task<Result<std::string>> mistake_in(std::shared_ptr<const json::Value> arguments,
                                       SchemaPtr schema) const;
  Task<Result<std::vector<AgentAsTool>>> agents() const;
  Task<Result<mcp::CallOutcome>> call(ToolPtr tool, json::Object arguments, mcp::ServedCall* call);
  ToolUseId next_call_id();

  const WorkspaceDeps deps_;
  const Principal who_;
  std::string call_ids_;  // how the ids of the next calls begin
  std::uint64_t calls_ = 0;
};

}  // namespace errand::server
