#include "server/mcp/mcp_api.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "net/url.hpp"
#include "server/error_body.hpp"

namespace errand::server {
namespace {

void append_names(std::string& to, std::string_view what, const Grant::Names& names) {
  if (!names) return;
  append(to, " ", what, " ", json::write(json::Array(names->begin(), names->end())));
}

// A session keeps the rights of the request that began it. So the owner includes the grant: a token
// of the same client with another grant does not find the session.
std::string owner_of(const Principal& who) {
  std::string owner = cat(who.workspace.view(), " ", who.key.view());
  if (!who.grant) return owner;
  append_names(owner, "scopes", who.grant->scopes);
  append_names(owner, "agents", who.grant->agents);
  return owner;
}

TaskGroup::OnBug report_to(Log& log) {
  return [&log](const char* task, const std::string& what) {
    log.error("a task of the MCP server failed; this is a bug", {{"task", task}, {"what", what}});
  };
}

}  // namespace

McpApi::McpApi(const Deps& deps, net::HostRules hosts)
    : caller_(deps.home, deps.log, &deps.engine.records().secrets),
      cancelling_(deps.home, report_to(deps.log)),
      workspace_{.engine = deps.engine,
                 .tools = deps.tools,
                 .caller = caller_,
                 .schemas = std::make_shared<json::SchemaCache>(),
                 .cancelling = cancelling_},
      endpoint_(deps.home, std::move(hosts), report_to(deps.log), deps.engine.pool(),
                &deps.engine.readers()) {}

std::vector<GuestRoute> McpApi::routes() {
  std::vector<GuestRoute> out;
  for (net::Method method : {net::Method::post, net::Method::get, net::Method::delete_}) {
    // The route is not in the OpenAPI document, because MCP has errors of its own for most
    // statuses.
    RouteInfo info{.method = method,
                   .path = "/mcp",
                   .id = "mcp",
                   .tag = "MCP",
                   .scope = "mcp:connect",
                   .summary = "Speaks the Model Context Protocol.",
                   .answers = {},
                   .is_described = false};
    out.push_back({.info = std::move(info), .handle = [this](Principal who, net::Request request) {
                     return handle(std::move(who), std::move(request));
                   }});
  }
  return out;
}

Task<net::Response> McpApi::handle(Principal who, net::Request request) {
  mcp::HttpCaller caller{.owner = owner_of(who),
                         .group = who.workspace.str(),
                         .features = std::make_shared<WorkspaceFeatures>(workspace_, who)};
  auto response = co_await endpoint_.handle(std::move(request), std::move(caller));
  co_return response;
}

Task<void> McpApi::stop() {
  co_await endpoint_.stop();
  co_await caller_.stop();
  co_await cancelling_.join();
}

net::HostRules host_rules(std::string_view public_url, net::HostRules::Others others) {
  net::HostRules rules{.others = others};
  auto url = net::parse_url(public_url);
  if (url) rules.names.push_back(url->host);
  return rules;
}

}  // namespace errand::server
