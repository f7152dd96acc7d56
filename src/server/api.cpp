#include "server/api.hpp"

#include <utility>

#include "base/text.hpp"
#include "base/version.hpp"
#include "json/write.hpp"
#include "net/url.hpp"
#include "server/error_body.hpp"
#include "server/request_body.hpp"

namespace errand::server {

Api::Api(engine::Engine& engine, engine::KeyRing& keys, ApiOptions options)
    : engine_(engine), keys_(keys), options_(std::move(options)) {
  options_.public_url = net::without_trailing_slashes(options_.public_url);
}

void Api::add_routes(net::Router& router) {
  using net::Method;
  router.add(Method::get, "/healthz", [this](net::Request r) { return health(std::move(r)); });
  router.add(Method::get, "/readyz", [this](net::Request r) { return readiness(std::move(r)); });

  route(router, Method::post, "/agent-runs", &Api::create_run);
  route(router, Method::get, "/agent-runs", &Api::list_runs);
  route(router, Method::get, "/agent-runs/{}", &Api::get_run);
  route(router, Method::get, "/agent-runs/{}/stream", &Api::stream_run);
  route(router, Method::get, "/agent-runs/{}/events", &Api::list_events);
  route(router, Method::post, "/agent-runs/{}/tool-results", &Api::post_tool_result);
  route(router, Method::post, "/agent-runs/{}/cancel", &Api::cancel_run);
  route(router, Method::post, "/agent-runs/{}/fork", &Api::fork_run);
  route(router, Method::get, "/agent-runs/{}/journal", &Api::list_journal);
  route(router, Method::post, "/agent-runs/{}/feedback", &Api::give_feedback);
  route(router, Method::post, "/agent-sessions", &Api::create_session);
  route(router, Method::get, "/agent-sessions", &Api::list_sessions);
  route(router, Method::get, "/agent-sessions/{}", &Api::get_session);
  route(router, Method::delete_, "/agent-sessions/{}", &Api::end_session);
  route(router, Method::post, "/agent-sessions/{}/messages", &Api::send_message);
  route(router, Method::get, "/agent-sessions/{}/events", &Api::list_session_events);
  route(router, Method::get, "/tool-calls", &Api::list_tool_calls);
  route(router, Method::post, "/tool-calls/{}/claim", &Api::claim_tool_call);
  route(router, Method::post, "/tool-calls/{}/extend", &Api::extend_tool_call);
  route(router, Method::post, "/tool-calls/{}/progress", &Api::report_progress);
  route(router, Method::get, "/models", &Api::list_models);
  route(router, Method::post, "/api-keys", &Api::create_key);
  route(router, Method::get, "/api-keys", &Api::list_keys);
  route(router, Method::delete_, "/api-keys/{}", &Api::revoke_key);
}

void Api::route(net::Router& router, net::Method method, std::string_view path, Verb verb) {
  router.add(method, cat("/api/v1/workspaces/{}", path),
             [this, verb](net::Request request) { return dispatch(verb, std::move(request)); });
}

Task<net::Response> Api::dispatch(Verb verb, net::Request request) {
  auto who = authenticate(request);
  if (!who) co_return render_error(who.error());
  auto answer = co_await (this->*verb)(*who, std::move(request));
  if (!answer) co_return render_error(answer.error());
  co_return std::move(*answer);
}

std::string_view Api::credential(const net::Request& request) {
  constexpr std::string_view kBearer = "bearer ";
  std::string_view authorization = request.header("authorization");
  if (authorization.size() > kBearer.size() &&
      equals_ignoring_case(authorization.substr(0, kBearer.size()), kBearer)) {
    return trim(authorization.substr(kBearer.size()));
  }
  return request.header("x-api-key");
}

Result<Principal> Api::authenticate(const net::Request& request) const {
  std::string_view secret = credential(request);
  if (secret.empty()) {
    return Error(ErrorCode::unauthorized, "no credential was sent")
        .reason("missing_credential")
        .hint("send the header Authorization: Bearer KEY, or X-API-Key: KEY");
  }
  auto who = keys_.find(secret);
  if (!who) {
    return Error(ErrorCode::unauthorized, "the key is unknown, or was revoked")
        .reason("invalid_credential")
        .hint("'errand keys create' makes a new one");
  }
  if (who->workspace.view() != request.params.at(0)) {
    return Error(ErrorCode::not_found, "the path names another workspace than the key's")
        .reason("wrong_workspace")
        .hint(cat("this key belongs to the workspace \"", who->workspace.view(), "\""));
  }
  return *who;
}

std::string Api::stream_url(const Principal& who, const RunId& run) const {
  return cat(options_.public_url, "/api/v1/workspaces/", who.workspace.view(), "/agent-runs/",
             run.view(), "/stream");
}

Task<net::Response> Api::health(net::Request) {
  std::string body;
  json::ObjectWriter out(body);
  out.field("status", "ok").field("version", version());
  out.end();
  co_return json_response(200, std::move(body));
}

Task<net::Response> Api::readiness(net::Request) {
  if (!engine_.is_recovered()) {
    co_return render_error(
        Error(ErrorCode::unavailable, cat("runs of the last process are being taken over: ",
                                          engine_.count(engine::Place::loading), " are being read"))
            .reason("recovering"));
  }
  if (engine_.is_draining()) {
    co_return render_error(
        Error(ErrorCode::unavailable, "the server is shutting down").reason("draining"));
  }
  auto answers = co_await engine_.store().ping();
  if (!answers) co_return render_error(answers.error());
  std::string body;
  json::ObjectWriter out(body);
  out.field("status", "ready");
  // Runs that may have brought a process down are tried a few at a time.
  if (std::size_t held = engine_.count(engine::Place::suspect)) out.field("heldBack", held);
  out.end();
  co_return json_response(200, std::move(body));
}

}  // namespace errand::server
