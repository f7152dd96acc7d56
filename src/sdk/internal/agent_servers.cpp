#include "sdk/internal/agent_servers.hpp"

#include <utility>

namespace errand::sdk {

Task<void> AgentServers::connect(std::vector<std::string> mcp, std::vector<std::string> a2a) {
  std::vector<McpPlace> servers;
  for (const std::string& flag : mcp) {
    servers.push_back({.where = flag, .address = mcp_address(flag), .flag = "--mcp"});
  }
  std::vector<AgentPlace> agents;
  for (const std::string& flag : a2a) {
    agents.push_back({.address = {.card_url = flag}, .flag = "--a2a"});
  }
  learned_ = co_await servers_.learn(std::move(servers), std::move(agents));
}

}  // namespace errand::sdk
