#include "server/openapi/openapi.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "server/openapi/error_codes.hpp"
#include "server/openapi/request_limits.hpp"
#include "server/openapi/schemas.hpp"

namespace errand::server {
namespace {

struct Named {
  std::string_view name;
  std::string_view about;
};

constexpr auto kPathParameters = std::to_array<Named>({
    {"workspace", "The slug of the workspace that the credential belongs to."},
    {"runId", "The id of a run."},
    {"sessionId", "The id of a session."},
    {"toolUseId", "The id of a tool call."},
    {"clientId", "The id of an OAuth client."},
    {"keyId", "The id of an API key, not the key itself."},
    {"secretName", "The name of a secret."},
    {"roomName", "The name of a room."},
    {"fileName", "The last part of a file's path; the token in the query names the whole path."},
    {"projectId", "The workspace as a UUID, which a room key holds."},
    {"roomKeyId", "The id of a room key, not the key itself."},
    {"agentId", "The id or the name of an agent."},
    {"toolId", "The id or the name of a stored tool."},
});

constexpr auto kTags = std::to_array<Named>({
    {"Runs", "A run drives a model and its tools until the model has answered."},
    {"Tool calls", "Calls of client tools, as work for a pool of clients."},
    {"Sessions", "A session is a conversation that the server remembers."},
    {"Agents", "An agent is a system prompt, a model, tools and limits under a name."},
    {"Tools", "Stored tools are HTTP requests that the server makes for runs."},
    {"Secrets", "Values that tools of the server use. They are written and never read."},
    {"A2A", "Stored agents for clients of the Agent2Agent protocol."},
    {"Rooms", "Participants of a room offer tools to each other over WebSockets."},
    {"Models", "The models that runs can name."},
    {"Keys", "API keys of a workspace."},
    {"OAuth", "Programs that get tokens of limited rights and life."},
    {"Workspaces",
     "Workspaces share nothing but the server. Only the operator's keys see them all."},
    {"Server", "The state of the server, and this document."},
});

// Errors that every route may answer.
constexpr auto kErrorsOfAll = std::to_array<std::string_view>(
    {"bad_request", "request_timeout", "headers_too_large", "store_unavailable", "overloaded"});
constexpr auto kErrorsOfKeys = std::to_array<std::string_view>({"unauthorized", "rate_limited"});
constexpr auto kErrorsOfWorkspaces = std::to_array<std::string_view>({"not_found"});
constexpr auto kErrorsOfBodies = std::to_array<std::string_view>(
    {"invalid_request", "too_complex", "body_too_large", "unsupported_media_type"});

constexpr std::string_view kAbout =
    "The agent-runs protocol and Errand's additions to it. Every answer has the header "
    "`x-request-id`, which log lines name, too; a request may bring its own, of 1 to 64 letters, "
    "digits, dots, underscores and dashes.";

std::string_view about_path_parameter(std::string_view name) {
  const auto* found = std::find_if(kPathParameters.begin(), kPathParameters.end(),
                                   [&](const Named& row) { return row.name == name; });
  ERRAND_ASSERT(found != kPathParameters.end());
  return found->about;
}

json::Object ref_to(std::string_view schema) {
  return {{"$ref", cat("#/components/schemas/", schema)}};
}

// A server-sent event whose data is JSON of the schema.
json::Object frame_schema(std::string_view schema) {
  return {{"type", "object"},
          {"required", {"id", "event", "data"}},
          {"properties",
           {{"id", {{"type", "string"}, {"description", "The event's `seq`."}}},
            {"event", {{"type", "string"}, {"description", "The event's `type`."}}},
            {"data",
             {{"type", "string"},
              {"contentMediaType", "application/json"},
              {"contentSchema", ref_to(schema)}}}}}};
}

json::Object content_of(std::string_view type, std::string_view schema) {
  json::Object media{{"schema", ref_to(schema)}};
  if (type == "text/event-stream") media["schema"] = frame_schema(schema);
  return {{type, std::move(media)}};
}

json::Array path_parameters(std::string_view path) {
  json::Array out;
  for (std::size_t at = path.find('{'); at != std::string_view::npos; at = path.find('{', at)) {
    std::size_t end = path.find('}', at);
    std::string_view name = path.substr(at + 1, end - at - 1);
    out.push_back(json::Object{{"name", name},
                               {"in", "path"},
                               {"required", true},
                               {"description", about_path_parameter(name)},
                               {"schema", {{"type", "string"}}}});
    at = end;
  }
  return out;
}

void add_preconditions(json::Array& out, const RouteInfo& route) {
  out.push_back(json::Object{
      {"name", "If-Match"},
      {"in", "header"},
      {"description", "The `ETag` of the version to change; `*`: any version, but there is one."},
      {"schema", {{"type", "string"}}}});
  if (route.method != net::Method::put) return;
  out.push_back(json::Object{{"name", "If-None-Match"},
                             {"in", "header"},
                             {"description", "`*`: only if there is none yet."},
                             {"schema", {{"type", "string"}, {"const", "*"}}}});
}

json::Array parameters_of(const RouteInfo& route) {
  json::Array out = path_parameters(full_path(route));
  for (const Parameter& parameter : route.query) out.push_back(to_json(parameter));
  if (route.takes_idempotency_key) {
    out.push_back(json::Object{
        {"name", "Idempotency-Key"},
        {"in", "header"},
        {"description",
         "A name for this request. A request that is repeated under it creates nothing more."},
        {"schema", {{"type", "string"}, {"maxLength", kIdempotencyKeyCharsMax}}}});
  }
  if (route.takes_preconditions) add_preconditions(out, route);
  return out;
}

template <class Codes>
void append_codes(std::vector<std::string_view>& out, const Codes& codes) {
  for (std::string_view code : codes) {
    if (std::find(out.begin(), out.end(), code) == out.end()) out.push_back(code);
  }
}

// The error codes of a route, its own first.
std::vector<std::string_view> errors_of(const RouteInfo& route) {
  std::vector<std::string_view> out = route.errors;
  if (!route.request.empty()) append_codes(out, kErrorsOfBodies);
  if (!route.query.empty() || route.takes_idempotency_key) {
    append_codes(out, std::array<std::string_view, 1>{"invalid_request"});
  }
  if (route.takes_preconditions) {
    append_codes(out, std::array<std::string_view, 2>{"version_mismatch", "invalid_request"});
  }
  if (route.access != Access::open) append_codes(out, kErrorsOfKeys);
  if (!route.scope.empty()) {
    append_codes(out, std::array<std::string_view, 1>{"insufficient_scope"});
  }
  const bool names_workspace =
      route.access == Access::workspace || route.access == Access::own_path;
  if (names_workspace) append_codes(out, kErrorsOfWorkspaces);
  append_codes(out, kErrorsOfAll);
  return out;
}

void add_errors(json::Object& responses, const RouteInfo& route) {
  std::map<int, std::vector<std::string_view>> by_status;
  for (std::string_view code : errors_of(route)) by_status[error_info(code).status].push_back(code);
  for (const auto& [status, codes] : by_status) {
    if (responses.if_contains(std::to_string(status)))
      continue;  // the route has a body of its own for it
    std::string about;
    for (std::string_view code : codes) append(about, about.empty() ? "`" : ", `", code, "`");
    responses[std::to_string(status)] =
        json::Object{{"description", about}, {"content", content_of("application/json", "Error")}};
  }
}

// Headers of answers. An answer with a record that has versions has an ETag.
constexpr auto kHeaders = std::to_array<Named>(
    {{"x-request-id", "The id of the request, which log lines name, too."},
     {"x-ratelimit-limit",
      "How many requests the key may make within a minute, if they are limited."},
     {"x-ratelimit-remaining", "How many of these requests are left."},
     {"x-ratelimit-reset", "Seconds until the oldest of these requests no longer count."},
     {"Retry-After", "Seconds to wait before the next request."},
     {"ETag", "The version of the record, for `If-Match`."}});
constexpr auto kVersioned = std::to_array<std::string_view>({"Agent", "HttpTool", "Secret"});

void add_header(json::Object& headers, std::string_view name) {
  headers[name] = json::Object{{"$ref", cat("#/components/headers/", name)}};
}

json::Object headers_of(const RouteInfo& route, int status) {
  constexpr int kTooManyRequests = 429;
  json::Object out;
  add_header(out, "x-request-id");
  if (route.access != Access::open) {
    for (std::string_view name :
         {"x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"}) {
      add_header(out, name);
    }
  }
  if (status == kTooManyRequests) add_header(out, "Retry-After");
  for (const RouteAnswer& answer : route.answers) {
    const bool is_versioned =
        std::find(kVersioned.begin(), kVersioned.end(), answer.schema) != kVersioned.end();
    if (answer.status == status && is_versioned) add_header(out, "ETag");
  }
  return out;
}

json::Object header_components() {
  json::Object out;
  for (const Named& header : kHeaders) {
    const bool is_text = header.name == "x-request-id" || header.name == "ETag";
    out[header.name] = json::Object{{"description", header.about},
                                    {"schema", {{"type", is_text ? "string" : "integer"}}}};
  }
  return out;
}

json::Object responses_of(const RouteInfo& route) {
  json::Object out;
  for (const RouteAnswer& answer : route.answers) {
    json::Object response{{"description", answer.about}};
    if (!answer.schema.empty()) response["content"] = content_of(answer.type, answer.schema);
    out[std::to_string(answer.status)] = std::move(response);
  }
  add_errors(out, route);
  for (auto& response : out) {
    const int status = parse_integer<int>(std::string_view(response.key())).value_or(0);
    response.value().as_object()["headers"] = headers_of(route, status);
  }
  return out;
}

json::Object operation_of(const RouteInfo& route) {
  json::Object out{{"operationId", route.id}, {"tags", {route.tag}}, {"summary", route.summary}};
  if (!route.about.empty()) out["description"] = route.about;
  if (!route.scope.empty()) out["x-scope"] = route.scope;
  if (json::Array parameters = parameters_of(route); !parameters.empty()) {
    out["parameters"] = std::move(parameters);
  }
  if (!route.request.empty()) {
    out["requestBody"] = json::Object{{"required", route.request_required},
                                      {"content", content_of(route.request_type, route.request)}};
  }
  out["responses"] = responses_of(route);
  if (route.access == Access::open) out["security"] = json::Array();
  return out;
}

json::Object paths_of(std::span<const RouteInfo> routes) {
  json::Object out;
  for (const RouteInfo& route : routes) {
    std::string path = full_path(route);
    if (!out.if_contains(path)) out[path] = json::Object();
    out[path].as_object()[to_lower(net::to_string(route.method))] = operation_of(route);
  }
  return out;
}

json::Array tags_of(std::span<const RouteInfo> routes) {
  json::Array out;
  for (const Named& tag : kTags) {
    out.push_back(json::Object{{"name", tag.name}, {"description", tag.about}});
  }
  for (const RouteInfo& route : routes) {
    ERRAND_ASSERT(std::any_of(kTags.begin(), kTags.end(),
                              [&](const Named& tag) { return tag.name == route.tag; }));
  }
  return out;
}

json::Array codes_json() {
  json::Array out;
  for (const ErrorInfo& row : error_codes()) {
    out.push_back(
        json::Object{{"code", row.code}, {"status", row.status}, {"description", row.about}});
  }
  return out;
}

}  // namespace

std::string full_path(const RouteInfo& route) {
  return cat(route.access == Access::workspace ? kWorkspacePath : "", route.path);
}

json::Object openapi_document(std::span<const RouteInfo> routes, std::string_view server_url) {
  json::Object out{{"openapi", "3.1.0"}};
  out["info"] = json::Object{{"title", "Errand"}, {"version", version()}, {"description", kAbout}};
  out["servers"] = json::Array{json::Object{{"url", server_url.empty() ? "/" : server_url}}};
  out["security"] =
      json::Array{json::Object{{"bearer", json::Array()}}, json::Object{{"key", json::Array()}}};
  out["tags"] = tags_of(routes);
  out["paths"] = paths_of(routes);
  out["components"] =
      json::Object{{"schemas", component_schemas()},
                   {"headers", header_components()},
                   {"securitySchemes",
                    {{"bearer", {{"type", "http"}, {"scheme", "bearer"}}},
                     {"key", {{"type", "apiKey"}, {"in", "header"}, {"name", "X-API-Key"}}}}}};
  out["x-error-codes"] = codes_json();
  return out;
}

}  // namespace errand::server
