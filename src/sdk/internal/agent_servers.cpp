#include "sdk/internal/agent_servers.hpp"

#include <filesystem>
#include <utility>

#include "mcp/client/offered_features.hpp"

namespace errand::sdk {

// A local path means nothing on another machine, and would reveal something of this one.
Task<void> AgentServers::connect(std::vector<std::string> mcp, std::vector<std::string> a2a,
                                 std::string folder) {
  std::error_code failure;
  const std::filesystem::path whole = std::filesystem::absolute(folder, failure);
  std::vector<mcp::Root> roots;
  if (!folder.empty() && !failure) roots.push_back(mcp::root_of(whole));
  std::vector<McpPlace> servers;
  for (const std::string& flag : mcp) {
    McpPlace& place = servers.emplace_back(
        McpPlace{.where = flag, .address = mcp_address(flag), .flag = "--mcp"});
    if (std::holds_alternative<mcp::StdioServer>(place.address)) place.roots = roots;
  }
  std::vector<AgentPlace> agents;
  for (const std::string& flag : a2a) {
    agents.push_back({.address = {.card_url = flag}, .flag = "--a2a"});
  }
  learned_ = co_await servers_.learn(std::move(servers), std::move(agents));
}

}  // namespace errand::sdk
