#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/ids.hpp"
#include "telemetry/trace_context.hpp"

namespace errand {

// What a credential may do; what is absent is not restricted.
struct Grant {
  using Names = std::optional<std::vector<std::string>>;

  Names scopes = {};  // such as "runs:read"
  Names agents = {};  // ids or names of the agents that it may run

  friend bool operator==(const Grant&, const Grant&) = default;
};

// The scopes of a credential that is restricted to agents and has no list of scopes: what it takes
// to run agents and to follow their runs. Whatever else it is to do, its scopes have to name.
inline constexpr auto kScopesOfAgentRunners = std::to_array<std::string_view>(
    {"a2a:discovery", "a2a:invoke", "agents:read", "feedback:write", "mcp:connect", "models:read",
     "runs:read", "runs:write", "sessions:read", "sessions:write"});

// Who is asking: a workspace, known by one of its keys.
struct Principal {
  WorkspaceSlug workspace;
  KeyId key;
  std::shared_ptr<const Grant> grant = nullptr;  // null: may do everything in its workspace
  std::optional<TraceContext> trace = {};        // the caller's span, or that of a call
  std::string request_id = {};                   // for log lines; empty: none

  bool has_scope(std::string_view scope) const {
    if (!grant) return true;
    if (grant->scopes || !grant->agents) return holds(grant->scopes, scope);
    return std::find(kScopesOfAgentRunners.begin(), kScopesOfAgentRunners.end(), scope) !=
           kScopesOfAgentRunners.end();
  }
  // What is not a stored agent's may be run by those alone who may use any agent.
  bool may_use_any_agent() const { return !grant || !grant->agents; }
  bool may_use_agent(std::string_view agent) const { return !grant || holds(grant->agents, agent); }

 private:
  static bool holds(const Grant::Names& names, std::string_view name) {
    return !names || std::find(names->begin(), names->end(), name) != names->end();
  }
};

}  // namespace errand
