#pragma once

#include <list>
#include <memory>
#include <string>

#include "async/task_group.hpp"
#include "mcp/client/client.hpp"
#include "tool/tool_source.hpp"

namespace errand::mcp {

// The tools of MCP servers that runs name by URL (`mcp` refs). Runs with the same server, headers
// and workspace share a client, which stays connected for the next run. Lives on one home; must be
// stopped before it is destroyed, after the runs that use it.
class McpTools final : public RemoteToolSource {
 public:
  // The one used longest ago is given up for a new one.
  static constexpr std::size_t kClientsMax = 256;

  // `secrets` is for headers that name secrets or are sealed; it outlives this. Null: there are
  // none.
  explicit McpTools(ClientDeps deps, SecretSource* secrets = nullptr);
  McpTools(const McpTools&) = delete;
  McpTools& operator=(const McpTools&) = delete;

  Task<Result<std::vector<ToolDecl>>> ask(ToolRef ref, Principal who) override;
  ToolPtr open(const ToolDecl& binding, const ToolRef& ref, const Principal& who) override;

  Task<void> stop();

  using ClientPtr = std::shared_ptr<Client>;
  // The client for a server, whose headers are filled in.
  ClientPtr client_of(const McpServer& server, const Principal& who);

 private:
  struct Known {
    std::string key;
    ClientPtr client;
  };

  static Task<void> end(ClientPtr client);

  const ClientDeps deps_;
  SecretSource* const secrets_;
  std::list<Known> clients_;  // the one used last is first
  TaskGroup ending_;
};

}  // namespace errand::mcp
