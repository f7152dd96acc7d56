#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "a2a/a2a_tools.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "mcp/client/client.hpp"
#include "net/client/http_client.hpp"
#include "run/tools/tool_ref.hpp"
#include "tool/tool.hpp"

namespace errand::sdk {

// The MCP servers and the A2A agents that the flags name. This process talks to them, wherever the
// run is driven. Lives on one home; must be stopped before it is destroyed.
class AgentServers final {
 public:
  AgentServers(Executor home, Timers& timers);
  AgentServers(const AgentServers&) = delete;
  AgentServers& operator=(const AgentServers&) = delete;

  // Connects to all of them at once and learns their tools.
  Task<void> connect(std::vector<std::string> mcp, std::vector<std::string> a2a);
  // Why some of them are not there. Each error names its flag.
  const std::vector<Error>& failures() const { return failures_; }

  // The tools of all servers, named "SERVER_TOOL", and the agents. For a server that does not
  // answer there is a tool that says so.
  const std::vector<ToolPtr>& tools() const { return tools_; }
  // The same as a server of runs wants to be told of them: what it is, and that this process
  // answers.
  const std::vector<ToolRef>& refs() const { return refs_; }

  Task<void> stop();

 private:
  struct Server {
    std::string flag;
    std::shared_ptr<mcp::Client> client;
    std::optional<Error> failure = {};
    mcp::ServerInfo info = {};
    mcp::ToolListPtr list = nullptr;
  };

  struct Agent {
    std::string flag;
    std::shared_ptr<a2a::Client> client;
    std::optional<Result<a2a::AgentCard>> card = {};
  };

  static Task<void> learn(Server* server);
  static Task<void> fetch(Agent* agent);
  void add_agent(const Agent& agent);
  void add_tools(const Server& server, std::string name);
  enum class Flag : std::uint8_t { mcp, a2a };
  void add_failure(Flag kind, const std::string& flag, const Error& error);
  std::string name_for(const Server& server) const;
  std::string unused_name(const std::string& wanted) const;

  const Executor home_;
  Timers& timers_;
  net::HttpClient http_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::vector<ToolPtr> tools_;
  std::vector<ToolRef> refs_;
  std::vector<Error> failures_;
  TaskGroup cancelling_;  // of tasks whose calls were given up
  TaskGroup learning_;    // last: tasks use everything above
};

// Where a flag's value leads: to a URL, or to a program that the shell starts.
mcp::ServerAddress mcp_address(const std::string& flag,
                               const std::vector<std::string>& environment);

}  // namespace errand::sdk
