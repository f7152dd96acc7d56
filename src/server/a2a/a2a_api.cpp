#include "server/a2a/a2a_api.hpp"

#include <utility>

#include "a2a/server/agent_endpoint.hpp"
#include "base/text.hpp"
#include "json/write.hpp"
#include "net/url.hpp"
#include "server/a2a/card_json.hpp"
#include "server/a2a/run_backend.hpp"
#include "server/error_body.hpp"
#include "server/request_body.hpp"

namespace errand::server {

A2aApi::A2aApi(Deps deps) : deps_(std::move(deps)) {}

std::vector<GuestRoute> A2aApi::routes() {
  auto show = [this](Principal who, net::Request request) {
    return show_card(std::move(who), std::move(request));
  };
  auto call = [this](Principal who, net::Request request) {
    return handle(std::move(who), std::move(request));
  };
  RouteInfo card{.method = net::Method::get,
                 .path = "/api/a2a/{workspace}/agents/{agentId}/.well-known/agent-card.json",
                 .id = "getAgentCard",
                 .tag = "A2A",
                 .scope = "a2a:discovery",
                 .summary = "Shows the A2A card of a stored agent.",
                 .about = "The card has the members of versions 0.3 and 1.0 of the protocol.",
                 .answers = {{200, "The card.", "AgentCard"}},
                 .errors = {"forbidden"},
                 .access = Access::own_path};
  RouteInfo old_card = card;
  old_card.path = "/api/a2a/{workspace}/agents/{agentId}/.well-known/agent.json";
  old_card.is_described = false;
  RouteInfo message{
      .method = net::Method::post,
      .path = "/api/a2a/{workspace}/agents/{agentId}",
      .id = "sendA2aMessage",
      .tag = "A2A",
      .scope = "a2a:invoke",
      .summary = "Takes a JSON-RPC message of the Agent2Agent protocol.",
      .about =
          "A2A clients use this endpoint: a task is a run, and a context is a "
          "session. An error of the protocol has status 200.",
      .request = "A2aMessage",
      .answers = {{200, "The answer, as JSON or as a stream of events.", "A2aAnswer"}},
      .errors = {"forbidden"},
      .access = Access::own_path};
  return {{card, show}, {old_card, show}, {message, call}};
}

Task<net::Response> A2aApi::show_card(Principal who, net::Request request) {
  auto agent = co_await find_agent(&deps_.engine.records().agents, who, request.params.at(1));
  if (!agent) co_return render_error(agent.error());
  std::string url = cat(deps_.base_url(request), "/api/a2a/", who.workspace.view(), "/agents/",
                        percent_encode(agent->name));
  net::Response response = json_response(200, json::write(card_json(*agent, url)));
  response.headers.push_back({"Cache-Control", "private, max-age=60"});
  response.headers.push_back({"ETag", cat("\"", agent->version, "\"")});
  co_return response;
}

Task<net::Response> A2aApi::handle(Principal who, net::Request request) {
  auto agent = co_await find_agent(&deps_.engine.records().agents, who, request.params.at(1));
  if (!agent) co_return render_error(agent.error());
  auto backend = std::make_shared<RunBackend>(deps_.engine, std::move(who), std::move(*agent));
  auto answer =
      co_await a2a::answer_post(std::move(backend), std::move(request), deps_.engine.pool());
  if (!answer) co_return render_error(answer.error());
  co_return std::move(*answer);
}

}  // namespace errand::server
