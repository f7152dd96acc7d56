#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "async/task_group.hpp"
#include "mcp/client/client_tools.hpp"
#include "tool/tool_source.hpp"

namespace errand::mcp {

// A server of the configuration, and the folders that it is told to work in.
struct ConfiguredServer {
  ServerAddress address;
  std::vector<Root> roots = {};
  // Values of a program's variables that may be keys: what it says is cleared of them.
  std::vector<std::string> secrets = {};
};

// The tools of MCP servers that runs name (`mcp` refs), by their URL or as the configuration has
// them. Runs with the same server, headers and workspace share a client, which stays connected for
// the next run; calls of no run share another, because a server may ask them less. Lives on one
// home; must be stopped before it is destroyed, after the runs that use it.
class McpTools final : public RemoteToolSource {
 public:
  // The one used longest ago is given up for a new one, unless a call is under way there. If there
  // is one everywhere, no new client is made.
  static constexpr std::size_t kClientsMax = 256;

  // Servers that runs can name as "config:NAME". The operator of this process trusts them: `http`
  // may reach any address.
  struct Configured {
    std::map<std::string, ConfiguredServer> servers;
    net::HttpClient& http;  // outlives the tools
  };

  // `secrets` is for headers that name secrets or are sealed; it outlives this. Null: there are
  // none.
  McpTools(ClientDeps deps, Configured configured, SecretSource* secrets = nullptr);
  McpTools(const McpTools&) = delete;
  McpTools& operator=(const McpTools&) = delete;

  Task<Result<std::vector<ToolDecl>>> ask(ToolRef ref, Principal who) override;
  ToolPtr open(const ToolDecl& binding, const ToolRef& ref, const Principal& who) override;
  // Those of the configured servers, as "SERVER_TOOL". All servers are asked at once; one that does
  // not answer within kOfferedWait is left out, and is not asked again for a moment.
  Task<Result<std::vector<ToolPtr>>> offered(Principal who) override;
  Task<Result<std::vector<ToolOffer>>> offers(Principal who) override;
  static constexpr milliseconds kOfferedWait = seconds(10);
  // `tell` is called on the home when a configured server says that its tools have changed, with
  // the workspace that has been offered them.
  void on_offered_changed(std::function<void(const WorkspaceSlug&)> tell) {
    tell_changed_ = std::move(tell);
  }

  Task<void> stop();

 private:
  struct Asked;
  using ClientPtr = std::shared_ptr<Client>;
  struct Known {
    std::string key;
    ClientPtr client;
  };

  // The client for a server, with the secrets of its headers filled in. not_found: the
  // configuration has no such server. rate_limited: kClientsMax.
  Task<Result<ClientPtr>> client_for(McpServer server, Principal who, CallSecrets* secrets,
                                     Caller caller);
  Result<ServerAddress> address_of(const McpServer& server) const;
  ClientFeatures* features_for(const McpServer& server, Caller caller) const;
  Result<ClientPtr> client_at(ServerAddress address, const McpServer& server, const Principal& who,
                              Caller caller);
  Task<Result<std::vector<ToolDecl>>> tools_of(McpServer server, Principal who, Caller caller);
  bool make_room();
  Task<void> ask_one(std::string name, Principal who, std::shared_ptr<Asked> asked);
  Task<void> ask_configured(std::vector<std::string> names, Principal who,
                            std::shared_ptr<Asked> asked);
  static Task<void> end(ClientPtr client);

  const ClientDeps deps_;
  const Configured configured_;
  SecretSource* const secrets_;
  std::function<void(const WorkspaceSlug&)> tell_changed_;  // empty: nobody wants to know
  // By the name of a configured server; all other servers share the empty name.
  std::map<std::pair<std::string, Caller>, std::unique_ptr<ClientFeatures>> features_;
  std::list<Known> clients_;  // the one used last is first
  struct Down {
    SteadyTime until;
    std::string why;
  };
  // Configured servers that did not answer a workspace.
  std::map<std::pair<WorkspaceSlug, std::string>, Down> down_;
  TaskGroup ending_;
  TaskGroup asking_;  // configured servers what they have; last: tasks use everything above
};

}  // namespace errand::mcp
