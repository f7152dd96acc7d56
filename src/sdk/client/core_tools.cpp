// The tools that a program gives to a run: its own, and those of servers that it connects to.
#include <unistd.h>

#include <filesystem>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "mcp/client/offered_features.hpp"
#include "sdk/bridge/ask_user.hpp"
#include "sdk/bridge/handler_services.hpp"
#include "sdk/bridge/public_tool.hpp"
#include "sdk/client/runner_core.hpp"
#include "sdk/toolbox.hpp"

namespace errand::sdk {
namespace {

std::vector<net::Header> headers_of(const std::map<std::string, std::string>& given) {
  std::vector<net::Header> out;
  for (const auto& [name, value] : given) out.push_back({name, value});
  return out;
}

// Two places are the same server only if all of this is equal.
std::string key_of_place(const std::string& where, const v1::LocalMcpOptions& options) {
  std::string key = where;
  for (const auto& [name, value] : options.headers) append(key, "\n", name, ": ", value);
  for (const auto& [name, value] : options.environment) append(key, "\n", name, "=", value);
  for (const std::string& folder : options.roots) append(key, "\nroot ", folder);
  return key;
}

McpPlace place_of(const std::string& where, const v1::LocalMcpOptions& options) {
  McpPlace place{.where = where, .address = mcp_address(where)};
  if (auto* http = std::get_if<mcp::HttpServer>(&place.address)) {
    http->headers = headers_of(options.headers);
  } else if (auto* program = std::get_if<mcp::StdioServer>(&place.address)) {
    for (const auto& [name, value] : options.environment) {
      std::erase_if(program->environment, [head = cat(name, "=")](const std::string& one) {
        return one.starts_with(head);
      });
      program->environment.push_back(cat(name, "=", value));
    }
  }
  return place;
}

// The connection keeps the offer alive, so that no other offer gets its address, which is the key.
McpPlace place_of(const std::shared_ptr<McpOffer>& offer, InProcessServers& servers) {
  return {.where = offer->name(),
          .address = servers.address_of(offer),
          .key = cat("in process ", reinterpret_cast<std::uintptr_t>(offer.get()))};
}

// invalid_argument: a root is not an absolute path.
Result<std::vector<mcp::Root>> roots_of(const v1::LocalMcpOptions& options) {
  std::vector<mcp::Root> roots;
  for (const std::string& folder : options.roots) {
    if (!std::filesystem::path(folder).is_absolute()) {
      return Error(
                 ErrorCode::invalid_argument,
                 cat("a root of an MCP server is the whole path of a folder, not \"", folder, "\""))
          .pointer("/mcp_servers");
    }
    roots.push_back(mcp::root_of(folder));
  }
  return roots;
}

AgentPlace place_of(const v1::A2aAgent& agent) {
  return {.address = {.card_url = agent.card_url, .headers = headers_of(agent.options.headers)},
          .name = agent.options.name,
          .description = agent.options.description,
          .context_id = agent.options.context_id};
}

}  // namespace

RunnerCore::Servers& RunnerCore::servers() {
  if (!servers_) {
    const bool is_client = backend_->called_by() == CalledBy::client;
    servers_ = std::make_unique<Servers>(home_.executor(), timers_, handlers_,
                                         teller_of(options_.handlers),
                                         is_client ? RunsAt::server : RunsAt::engine);
  }
  return *servers_;
}

Task<Result<ServerTools>> RunnerCore::learn(AskedTools asked, std::set<std::string> taken) {
  std::vector<McpPlace> places;
  for (const v1::McpServer& one : asked.mcp_servers) {
    const auto* where = std::get_if<std::string>(&one.place);
    McpPlace place =
        where ? place_of(*where, one.options)
              : place_of(McpOffer::of(std::get<v1::mcp::Server>(one.place)), servers().in_process);
    ERRAND_CO_TRY(place.roots, roots_of(one.options));
    place.key = key_of_place(place.key.empty() ? place.where : place.key, one.options);
    place.name = one.options.name;
    place.tool_filter = one.options.tool_filter;
    places.push_back(std::move(place));
  }
  std::vector<AgentPlace> agents;
  for (const v1::A2aAgent& one : asked.a2a_agents) agents.push_back(place_of(one));
  co_return co_await servers().local.learn(std::move(places), std::move(agents), std::move(taken));
}

Task<Result<RunTools>> RunnerCore::gather(AskedTools asked, Answers answers) {
  RunTools out;
  ERRAND_CO_TRY(out.tools, bridge_tools(handlers_, asked.tools, asked.toolkits));
  if (asked.ask_user) out.elicitation = ask_user_tool(handlers_, std::exchange(asked.ask_user, {}));
  ServerTools learned;
  if (!asked.mcp_servers.empty() || !asked.a2a_agents.empty()) {
    std::set<std::string> taken;
    for (const ToolPtr& tool : out.tools) taken.insert(tool->decl().name);
    ERRAND_CO_TRY(learned, co_await learn(std::move(asked), std::move(taken)));
  }
  for (const Error& failure : learned.failures) {
    services_of(options_.handlers)
        .log(v1::LogLevel::warning, cat("the tools of a server are missing: ", failure.message()));
  }
  for (ToolPtr& tool : learned.tools) out.tools.push_back(std::move(tool));
  out.lent = answers == Answers::here
                 ? backend_->lend(out.tools, learned.refs)
                 : LentTools{.refs = lend_as_client(out.tools, learned.refs)->refs};
  co_return out;
}

}  // namespace errand::sdk
