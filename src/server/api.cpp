#include "server/api.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "async/breath.hpp"
#include "base/ascii.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "engine/records/agent_access.hpp"
#include "json/write.hpp"
#include "net/url.hpp"
#include "run/scope_error.hpp"
#include "server/credential_errors.hpp"
#include "server/error_body.hpp"
#include "server/openapi/openapi.hpp"
#include "server/openapi/request_limits.hpp"
#include "server/request_body.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kMetricsScope = "metrics:read";
constexpr std::string_view kTraceparent = "traceparent";

// "/agent-runs/{runId}" as routers spell it: "/agent-runs/{}".
std::string router_pattern(std::string_view path) {
  std::string out;
  bool in_name = false;
  for (char c : path) {
    if (c == '}') in_name = false;
    if (!in_name) out.push_back(c);
    if (c == '{') in_name = true;
  }
  return out;
}

bool is_host(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view(".-_:[]").find(c) != std::string_view::npos;
  });
}

// Whether requests of the route change the tools that the workspace offers to others.
bool changes_tools(const RouteInfo& route) {
  bool is_change = route.scope == "agents:write" || route.scope == "tools:write";
  return is_change && route.id != "testTool";
}

// `scope` is empty for routes that every credential may use.
Result<void> check_scope(const Principal& who, std::string_view scope) {
  ERRAND_CHECK(engine::check_scope_of_agents(who, scope));
  if (scope.empty() || who.has_scope(scope)) return {};
  return lacks_scope(scope);
}

// The URL at which the client reaches this server, as far as the request shows it. A proxy that
// handles TLS says so in a header.
std::string url_of(const net::Request& request) {
  std::string_view host = request.header("host");
  if (!is_host(host)) return {};
  const bool is_secure = equals_ignoring_case(request.header("x-forwarded-proto"), "https");
  return cat(is_secure ? "https://" : "http://", host);
}

}  // namespace

Api::Api(engine::Engine& engine, engine::KeyRing& keys, ApiOptions options)
    : engine_(engine),
      keys_(keys),
      workspaces_(engine.store(), keys),
      oauth_(engine.store(), keys.clock()),
      options_(std::move(options)),
      rows_(all_rows()),
      started_at_(keys.clock().now()) {
  options_.limits.push_back({.name = "requestsPerMinute", .value = options_.requests_per_minute});
  if (options_.requests_per_minute) limiter_.emplace(*options_.requests_per_minute);
  keys_.on_revoked([this](const KeyId& key) { cut(key); });
  options_.public_url = net::without_trailing_slashes(options_.public_url);
}

Api::~Api() {
  keys_.on_revoked({});
}

std::vector<Api::Row> Api::all_rows() {
  std::vector<Row> all;
  for (auto chapter : {run_rows, history_rows, tool_call_rows, session_rows, agent_rows, tool_rows,
                       tool_test_rows, secret_rows, room_rows, room_key_rows, room_door_rows,
                       workspace_rows, oauth_rows, token_rows, server_rows}) {
    for (Row& row : chapter()) all.push_back(std::move(row));
  }
  return all;
}

void Api::add_guests(std::vector<GuestRoute> guests) {
  for (GuestRoute& guest : guests) {
    rows_.push_back({.info = std::move(guest.info), .guest = std::move(guest.handle)});
  }
}

void Api::add_routes(net::Router& router) {
  for (const Row& row : rows_) {
    router.add(
        row.info.method, router_pattern(full_path(row.info)),
        [this, &row](net::Request request) { return dispatch(&row, std::move(request)); },
        [this, &row](const net::Request& head) { return terms_of_body(row, head); });
  }
}

Task<net::Response> Api::dispatch(const Row* row, net::Request request) {
  net::Response response = co_await admit(row, std::move(request));
  ++requests_.by_status[response.status];
  co_return response;
}

Task<net::Response> Api::admit(const Row* row, net::Request request) {
  if (row->open_verb) co_return co_await (this->*row->open_verb)(std::move(request));
  auto who = authenticate(row->info.access, request);
  if (!who) co_return refuse(who.error());
  std::vector<net::Header> headers;
  who->trace = parse_traceparent(request.header(kTraceparent));
  if (who->trace) headers.push_back({std::string(kTraceparent), to_traceparent(*who->trace)});
  who->request_id = request.id;
  auto refused = refuse_excess(*who, headers);
  net::Response response;
  if (refused) {
    response = std::move(*refused);
  } else {
    response = co_await answer(row, *who, std::move(request));
  }
  std::move(headers.begin(), headers.end(), std::back_inserter(response.headers));
  co_return response;
}

Task<net::Response> Api::answer(const Row* row, Principal who, net::Request request) {
  const std::string secret(credential(request));
  const auto left = time_left(secret, who.key);
  if (auto allowed = check_scope(who, row->info.scope); !allowed) {
    co_return refuse(allowed.error());
  }
  Result<net::Response> answer = Error(ErrorCode::internal, "not answered");
  if (row->guest) {
    answer = co_await row->guest(who, std::move(request));
  } else {
    answer = co_await (this->*row->verb)(who, std::move(request));
  }
  if (!answer) {
    if (!answer.error().limit().empty()) ++requests_.by_limit[answer.error().limit()];
    if (answer.error().code() == ErrorCode::forbidden) co_return refuse(answer.error());
    co_return render_error(answer.error());
  }
  if (changes_tools(row->info) && answer->status < 300) on_tools_changed_(who.workspace);
  if (answer->events) {
    // The credential may have been revoked during the verb, when there was no stream to cut yet.
    if (!find(secret)) co_return refuse(bad_credential());
    const SteadyTime expires = left ? std::chrono::steady_clock::now() + *left : SteadyTime::max();
    answer->events = streams_.guard(std::move(answer->events), who.key, secret, expires);
  }
  co_return std::move(*answer);
}

std::optional<net::Response> Api::refuse_excess(const Principal& who,
                                                std::vector<net::Header>& headers) {
  if (!limiter_) return {};
  auto verdict = limiter_->take(who.key, std::chrono::steady_clock::now());
  headers.push_back({"x-ratelimit-limit", std::to_string(verdict.limit)});
  headers.push_back({"x-ratelimit-remaining", std::to_string(verdict.remaining)});
  headers.push_back({"x-ratelimit-reset", std::to_string(verdict.reset_after.count())});
  if (verdict.is_allowed) return {};
  ++requests_.rate_limited;
  ++requests_.by_limit["requestsPerMinute"];
  headers.push_back({"Retry-After", std::to_string(verdict.reset_after.count())});
  return render_error(
      Error(ErrorCode::rate_limited, "this key has made too many requests within a minute")
          .limit("requestsPerMinute", verdict.limit)
          .hint(cat("try again in ", verdict.reset_after.count(), " s")));
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

Result<Principal> Api::identify(const net::Request& request) {
  std::string_view secret = credential(request);
  if (secret.empty()) {
    return Error(ErrorCode::unauthorized, "no credential was sent")
        .reason("missing_credential")
        .hint("send the header Authorization: Bearer KEY, or X-API-Key: KEY");
  }
  auto who = find(secret);
  if (!who) return bad_credential();
  return *who;
}

Result<Principal> Api::authenticate(Access access, const net::Request& request) {
  ERRAND_TRY(Principal who, identify(request));
  const bool names_workspace = access == Access::workspace || access == Access::own_path;
  if (names_workspace && who.workspace.view() != request.params.at(0)) {
    return Error(ErrorCode::not_found, "the path names another workspace than the key's")
        .reason("wrong_workspace")
        .hint(cat("this key belongs to the workspace \"", who.workspace.view(), "\""));
  }
  return who;
}

// A client that is refused now need not send the body of the request.
Result<net::BodyTerms> Api::terms_of_body(const Row& row, const net::Request& head) {
  if (row.open_verb) return open_terms();
  auto refused_with = [this](net::Response answer) {
    ++requests_.by_status[answer.status];
    return net::BodyTerms{.refusal = std::make_shared<net::Response>(std::move(answer))};
  };
  auto who = authorize(row.info, head);
  if (!who) return refused_with(refuse(who.error()));
  net::BodyTerms terms{.holder = who->key.str()};
  if (!limiter_ || limiter_->would_allow(who->key, std::chrono::steady_clock::now())) return terms;
  std::vector<net::Header> headers;
  auto refused = refuse_excess(*who, headers);
  if (!refused) return terms;
  std::move(headers.begin(), headers.end(), std::back_inserter(refused->headers));
  return refused_with(std::move(*refused));
}

Result<Principal> Api::authorize(const RouteInfo& route, const net::Request& request) {
  ERRAND_TRY(Principal who, authenticate(route.access, request));
  ERRAND_CHECK(check_scope(who, route.scope));
  return who;
}

net::Response Api::refuse(const Error& error) {
  ++requests_.by_refusal[error.reason().empty() ? "forbidden" : error.reason()];
  return render_error(error);
}

net::BodyTerms Api::open_terms() {
  return {.bytes_max = kOpenBodyBytesMax};
}

std::optional<Principal> Api::find(std::string_view secret) {
  return secret.starts_with(engine::OAuth::kAccessPrefix) ? oauth_.find(secret)
                                                          : keys_.find(secret);
}

std::optional<milliseconds> Api::time_left(std::string_view secret, const KeyId& key) const {
  return secret.starts_with(engine::OAuth::kAccessPrefix) ? oauth_.time_left(secret)
                                                          : keys_.time_left(key);
}

Result<void> Api::check_lasting(const Principal& who, const net::Request& request,
                                std::string_view what) const {
  if (!time_left(credential(request), who.key)) return {};
  return Error(ErrorCode::forbidden, cat("a credential that expires cannot make ", what));
}

void Api::cut(const KeyId& key) {
  streams_.cut(key);
  engine_.recheck_waits();
}

std::string Api::base_url(const net::Request& request) const {
  return options_.public_url.empty() ? url_of(request) : options_.public_url;
}

std::string Api::stream_url(const net::Request& request, const Principal& who,
                            const RunId& run) const {
  return cat(base_url(request), "/api/v1/workspaces/", who.workspace.view(), "/agent-runs/",
             run.view(), "/stream");
}

Task<net::Response> Api::health(net::Request) {
  std::string body;
  json::ObjectWriter out(body);
  out.field("status", "ok").field("version", version());
  out.end();
  co_return json_response(200, std::move(body));
}

Task<net::Response> Api::openapi(net::Request) {
  if (openapi_.empty()) {
    std::vector<RouteInfo> routes;
    for (const Row& row : rows_) {
      if (row.info.is_described) routes.push_back(row.info);
    }
    json::write(openapi_, openapi_document(routes, options_.public_url));
  }
  co_return json_response(200, openapi_);
}

Task<net::Response> Api::metrics(net::Request request) {
  if (!options_.trusts_loopback || !request.from_loopback) {
    auto who = authenticate(Access::key, request);
    if (!who) co_return refuse(who.error());
    if (!engine::Workspaces::is_operator(*who) || !who->has_scope(kMetricsScope)) {
      co_return refuse(lacks_scope(kMetricsScope));
    }
  }
  ProcessFacts process = process_facts(options_.data, options_.database);
  constexpr double kMillis = 1000;
  process.started_at = static_cast<double>(to_millis(started_at_)) / kMillis;
  const SteadyTime before = std::chrono::steady_clock::now();
  co_await let_others_run();
  process.loop_lag_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  const auto http = options_.http_counts ? options_.http_counts() : net::HttpServer::Counts();
  std::optional<SpanTally> spans;
  if (options_.span_counts) spans = options_.span_counts();
  std::optional<ConnectedTally> connected;
  if (options_.connected) connected = options_.connected();
  std::optional<std::uint64_t> messages_waiting;
  auto waiting = co_await engine_.store().count_waiting_for_turn();
  if (waiting) messages_waiting = static_cast<std::uint64_t>(*waiting);
  net::Response response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = metrics_text({.engine = engine_,
                                .http = http,
                                .requests = requests_,
                                .limits = options_.limits,
                                .process = process,
                                .spans = spans,
                                .connected = connected,
                                .messages_waiting = messages_waiting,
                                .loop = options_.loop});
  co_return response;
}

Task<net::Response> Api::readiness(net::Request) {
  if (!engine_.is_recovered()) {
    net::Response response =
        render_error(Error(ErrorCode::unavailable,
                           cat("runs of the last process are being taken over: ", engine_.backlog(),
                               " are left"))
                         .reason("recovering"));
    response.is_not_yet = true;
    co_return response;
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
