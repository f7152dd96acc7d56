#include "server/mcp/mcp_api.hpp"

#include <utility>

#include "base/text.hpp"
#include "net/url.hpp"
#include "server/error_body.hpp"

namespace errand::server {

McpApi::McpApi(const Deps& deps, net::HostRules hosts)
    : authenticate_(deps.authenticate),
      caller_(deps.home, deps.log),
      workspace_{
          .engine = deps.engine, .tools = deps.tools, .caller = caller_, .schemas = schemas_},
      endpoint_(deps.home, std::move(hosts),
                [&log = deps.log](const char* task, const std::string& what) {
                  log.error("a task of the MCP server failed; this is a bug",
                            {{"task", task}, {"what", what}});
                }) {}

void McpApi::add_routes(net::Router& router) {
  for (net::Method method : {net::Method::post, net::Method::get, net::Method::delete_}) {
    router.add(method, "/api/v1/workspaces/{}/mcp",
               [this](net::Request request) { return handle(std::move(request)); });
  }
}

Task<net::Response> McpApi::handle(net::Request request) {
  auto who = authenticate_(request);
  if (!who) co_return render_error(who.error());
  mcp::HttpCaller caller{.owner = cat(who->workspace.view(), " ", who->key.view()),
                         .features = std::make_shared<WorkspaceFeatures>(workspace_, *who)};
  auto response = co_await endpoint_.handle(std::move(request), std::move(caller));
  co_return response;
}

Task<void> McpApi::stop() {
  co_await endpoint_.stop();
  co_await caller_.stop();
}

net::HostRules host_rules(std::string_view public_url, net::HostRules::Others others) {
  net::HostRules rules{.others = others};
  auto url = net::parse_url(public_url);
  if (url) rules.names.push_back(url->host);
  return rules;
}

}  // namespace errand::server
