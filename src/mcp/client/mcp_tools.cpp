#include "mcp/client/mcp_tools.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "mcp/client/client_tools.hpp"
#include "mcp/tool_result.hpp"

namespace errand::mcp {
namespace {

constexpr std::string_view kConfigured = "config:";

// Whether the ref means a server of the configuration.
bool is_configured(const McpServer& server) {
  return server.url.starts_with(kConfigured);
}

using NetHeaders = std::vector<net::Header>;

std::string key_of(const McpServer& server, const ServerAddress& address, const Principal& who) {
  std::string key = cat(who.workspace.view(), "\n", server.url);
  const auto* http = std::get_if<HttpServer>(&address);
  for (const net::Header& header : http ? http->headers : NetHeaders()) {
    append(key, "\n", header.name, ":", header.value);
  }
  return key;
}

Task<Result<NetHeaders>> filled(NetHeaders headers, CallSecrets* secrets) {
  Headers pairs;
  for (net::Header& header : headers) {
    pairs.emplace_back(std::move(header.name), std::move(header.value));
  }
  ERRAND_CO_TRY(pairs, co_await secrets->fill(std::move(pairs)));
  NetHeaders out;
  for (auto& [name, value] : pairs) out.push_back({std::move(name), std::move(value)});
  co_return out;
}

}  // namespace

McpTools::McpTools(ClientDeps deps, Configured configured, SecretSource* secrets)
    : deps_(deps),
      configured_(std::move(configured)),
      secrets_(secrets),
      ending_(deps.home, deps.on_bug) {}

Result<ServerAddress> McpTools::address_of(const McpServer& server) const {
  if (is_configured(server)) {
    auto found = configured_.servers.find(server.url.substr(kConfigured.size()));
    if (found != configured_.servers.end()) return found->second;
    return Error(ErrorCode::not_found,
                 cat("the configuration has no MCP server called \"",
                     std::string_view(server.url).substr(kConfigured.size()), "\""));
  }
  HttpServer http{.url = server.url};
  for (const auto& [name, value] : server.headers) http.headers.push_back({name, value});
  return ServerAddress(std::move(http));
}

Task<Result<McpTools::ClientPtr>> McpTools::client_for(McpServer server, Principal who,
                                                       CallSecrets* secrets) {
  ERRAND_CO_TRY(auto address, address_of(server));
  if (auto* http = std::get_if<HttpServer>(&address); http && secrets) {
    ERRAND_CO_TRY(http->headers, co_await filled(http->headers, secrets));
  }
  co_return client_at(std::move(address), server, who);
}

McpTools::ClientPtr McpTools::client_at(ServerAddress address, const McpServer& server,
                                        const Principal& who) {
  std::string key = key_of(server, address, who);
  auto known = std::find_if(clients_.begin(), clients_.end(),
                            [&key](const Known& one) { return one.key == key; });
  if (known != clients_.end()) {
    clients_.splice(clients_.begin(), clients_, known);
    return clients_.front().client;
  }
  ClientDeps deps{.home = deps_.home,
                  .http = is_configured(server) ? configured_.http : deps_.http,
                  .timers = deps_.timers,
                  .on_bug = deps_.on_bug};
  ClientOptions options{.server = std::move(address)};
  clients_.push_front(
      {.key = std::move(key), .client = std::make_shared<Client>(deps, std::move(options))});
  if (clients_.size() > kClientsMax) {
    ending_.spawn("mcp.end", end(std::move(clients_.back().client)));
    clients_.pop_back();
  }
  return clients_.front().client;
}

Task<void> McpTools::end(ClientPtr client) {
  co_await client->stop();
}

Task<Result<std::vector<ToolDecl>>> McpTools::ask(ToolRef ref, Principal who) {
  const auto* server = std::get_if<McpServer>(&ref);
  if (!server) co_return std::vector<ToolDecl>();
  CallSecrets secrets(secrets_, who.workspace);
  ERRAND_CO_TRY(auto client, co_await client_for(*server, who, &secrets));
  auto asked = co_await client->tools();
  if (!asked) {
    co_return Error(asked.error().code(), secrets.blot_out(asked.error().message()));
  }
  const auto& list = *asked;
  std::vector<std::string> names = vendor_names(server->name, list->tools);
  std::vector<ToolDecl> decls;
  for (std::size_t i = 0; i < list->tools.size(); ++i) {
    const Tool& tool = list->tools[i];
    const auto& filter = server->tool_filter;
    bool is_wanted =
        !filter || std::find(filter->begin(), filter->end(), tool.name) != filter->end();
    if (is_wanted) decls.push_back(decl_of(tool, names[i]));
  }
  co_return decls;
}

ToolPtr McpTools::open(const ToolDecl& binding, const ToolRef& ref, const Principal& who) {
  const auto* server = std::get_if<McpServer>(&ref);
  if (!server) return nullptr;
  return make_tool([this, server = *server,
                    who](CallSecrets* secrets) { return client_for(server, who, secrets); },
                   binding);
}

Task<void> McpTools::stop() {
  for (Known& known : std::exchange(clients_, {})) {
    ending_.spawn("mcp.end", end(std::move(known.client)));
  }
  co_await ending_.join();
}

}  // namespace errand::mcp
