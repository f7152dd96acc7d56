#pragma once

#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "a2a/a2a_tools.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "mcp/client/client.hpp"
#include "net/client/http_client.hpp"
#include "run/tools/tool_ref.hpp"
#include "sdk/teller.hpp"
#include "tool/tool.hpp"

namespace errand::sdk {

// An MCP server that this process talks to for its runs.
struct McpPlace {
  std::string where;  // a URL or a command, as people read it
  mcp::ServerAddress address;
  std::string key = {};   // places with the same key share a connection; empty: `where`
  std::string flag = {};  // that named it, for messages
  std::string name = {};  // of its tools: "<name>_<tool>"; empty: what the server calls itself
  std::optional<std::vector<std::string>> tool_filter = {};  // its tools that are used
  std::vector<mcp::Root> roots = {};                         // folders that it is told of
};

// An A2A agent that this process talks to for its runs.
struct AgentPlace {
  a2a::AgentAddress address;
  std::string flag = {};
  std::string name = {};                        // of the tool; empty: the card's
  std::optional<std::string> description = {};  // instead of what the card says
  std::string context_id = {};                  // the context of calls that name no other
};

// Who drives the runs that use the servers, and so what calls can answer while a server works on
// them: an engine in this process asks its run, a client of a server only its own user, and calls
// of no run nobody.
enum class RunsAt : std::uint8_t { engine, server, nowhere };

// Where a text leads: to a URL, or to a program that the shell starts.
mcp::ServerAddress mcp_address(const std::string& url_or_command);

// What there is at such places.
struct ServerTools {
  // Of all servers, named "<name>_<tool>", and the agents. For a place that does not answer there
  // is a tool that says so.
  std::vector<ToolPtr> tools = {};
  // The same tools as refs for a server of runs: what they are, and that this process answers their
  // calls. Stubs for unavailable servers are not among them.
  std::vector<ToolRef> refs = {};
  std::vector<Error> failures = {};  // why some places have nothing; each names its place
};

// Keeps the connections to servers of tools that runs of this process use. A connection comes back
// by itself, and is given up when kIdleMax others were used later and no run has its tools. Lives
// on one home; must be stopped before it is destroyed.
class LocalServers final {
 public:
  static constexpr std::size_t kIdleMax = 64;
  // For all places to answer. A place that is later counts as one that does not answer.
  static constexpr std::chrono::seconds kLearnMax{30};

  LocalServers(Executor home, Timers& timers, Teller tell, RunsAt runs);
  LocalServers(const LocalServers&) = delete;
  LocalServers& operator=(const LocalServers&) = delete;

  // Connects to all places at once and learns their tools, whose names differ from `taken`.
  Task<ServerTools> learn(std::vector<McpPlace> servers, std::vector<AgentPlace> agents,
                          std::set<std::string> taken = {});

  Task<void> stop();

 private:
  struct Known {
    std::string key;
    std::shared_ptr<mcp::Client> client;
  };
  struct Connection;
  struct Server;
  struct Agent;
  struct Learning;
  class Names;

  std::shared_ptr<mcp::Client> client_for(const McpPlace& place);
  void give_up_idle();
  Task<void> stop_client(std::shared_ptr<mcp::Client> client);
  Task<void> learn_server(std::shared_ptr<Learning> all, Server* server);
  Task<void> wait_for_all(std::shared_ptr<Learning> all);
  Task<void> fetch_card(std::shared_ptr<Learning> all, Agent* agent);
  void add_tools(const Server& server, Names& names, ServerTools& out) const;
  void add_agent(const Agent& agent, Names& names, ServerTools& out);

  const Executor home_;
  Timers& timers_;
  const RunsAt runs_;
  const TaskGroup::OnBug on_bug_;
  net::HttpClient http_;
  std::list<Known> clients_;  // the one used last is first
  TaskGroup cancelling_;      // cancels the tasks of calls that were given up
  TaskGroup ending_;          // of connections that were given up
  TaskGroup learning_;        // last: tasks use everything above
};

}  // namespace errand::sdk
