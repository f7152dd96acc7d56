#pragma once

#include <string_view>
#include <vector>

#include "mcp/server/http_endpoint.hpp"
#include "net/server/host_rules.hpp"
#include "server/guest_route.hpp"
#include "server/mcp/workspace_features.hpp"

namespace errand::server {

// The workspaces of a server for MCP clients, at /api/v1/workspaces/{slug}/mcp. Lives on the
// engine's home; must be stopped once the HTTP server before it has been.
class McpApi final {
 public:
  // Outlive the object.
  struct Deps {
    engine::Engine& engine;
    const ToolSources& tools;
    Executor home;
    Log& log;
  };

  McpApi(const Deps& deps, net::HostRules hosts);

  // The routes, whose handlers this has to outlive.
  std::vector<GuestRoute> routes();
  // Tells the clients of the workspace that its tools, or its agents, have changed.
  void announce_change(const WorkspaceSlug& workspace) {
    endpoint_.announce_change(mcp::ListKind::tools, workspace.view());
  }
  mcp::HttpEndpoint::Counts counts() const { return endpoint_.counts(); }
  Task<void> stop();

 private:
  Task<net::Response> handle(Principal who, net::Request request);

  ToolCaller caller_;
  TaskGroup cancelling_;  // of runs whose callers have left
  const WorkspaceDeps workspace_;
  mcp::HttpEndpoint endpoint_;
};

// The names by which clients may call a server that is reached at `public_url` (empty: only from
// this machine). Behind a proxy, other names are the proxy's business.
net::HostRules host_rules(std::string_view public_url, net::HostRules::Others others);

}  // namespace errand::server
