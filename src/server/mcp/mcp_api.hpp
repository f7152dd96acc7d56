#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "mcp/server/http_endpoint.hpp"
#include "net/server/router.hpp"
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
    std::function<Result<Principal>(const net::Request&)> authenticate;
  };

  McpApi(const Deps& deps, net::HostRules hosts);

  void add_routes(net::Router& router);
  Task<void> stop();

 private:
  Task<net::Response> handle(net::Request request);

  const std::function<Result<Principal>(const net::Request&)> authenticate_;
  ToolCaller caller_;
  json::SchemaCache schemas_;
  const WorkspaceDeps workspace_;
  mcp::HttpEndpoint endpoint_;
};

// The names by which clients may call a server that is reached at `public_url` (empty: only from
// this machine). Behind a proxy, other names are the proxy's business.
net::HostRules host_rules(std::string_view public_url, net::HostRules::Others others);

}  // namespace errand::server
