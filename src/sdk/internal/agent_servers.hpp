#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sdk/internal/tell_stderr.hpp"
#include "sdk/local_servers.hpp"

namespace errand::sdk {

// The MCP servers and the A2A agents that the flags name. This process talks to them, wherever the
// run is driven. Lives on one home; must be stopped before it is destroyed.
class AgentServers final {
 public:
  AgentServers(Executor home, Timers& timers, RunsAt runs)
      : servers_(std::move(home), timers, tell_stderr, runs) {}

  // Connects to all of them at once and learns their tools. The programs among the MCP servers are
  // told of the folder, if there is one.
  Task<void> connect(std::vector<std::string> mcp, std::vector<std::string> a2a,
                     std::string folder);
  // Why some of them are not there. Each error names its flag.
  const std::vector<Error>& failures() const { return learned_.failures; }

  // See ServerTools.
  const std::vector<ToolPtr>& tools() const { return learned_.tools; }
  const std::vector<ToolRef>& refs() const { return learned_.refs; }

  Task<void> stop() { return servers_.stop(); }

 private:
  LocalServers servers_;
  ServerTools learned_;
};

}  // namespace errand::sdk
