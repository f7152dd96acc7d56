#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "net/http.hpp"
#include "server/openapi/parameter.hpp"

namespace errand::server {

// Where a route is, and who may call it.
enum class Access : std::uint8_t {
  workspace,  // below /api/v1/workspaces/{workspace}, with a credential of that workspace
  own_path,   // the same with a whole path, whose first parameter is the workspace
  key,        // with any credential
  open        // without one
};

// The answer of a route to a request that succeeds.
struct RouteAnswer {
  int status = 200;
  std::string_view about;
  std::string_view schema = {};  // a name of component_schemas(); empty: no body
  std::string_view type = "application/json";
};

// A row of the table of routes. The router is filled from it, and /openapi.json is written from it.
// To add a route: add a row, a handler, and the schemas that the row names.
struct RouteInfo {
  net::Method method = net::Method::get;
  std::string_view path;        // parameters are named: "/agent-runs/{runId}"
  std::string_view id;          // the operation's name, for generated clients
  std::string_view tag;         // the chapter of the reference that it belongs to
  std::string_view scope = {};  // that a restricted credential needs; empty: none
  std::string_view summary;
  std::string_view about = {};  // more than a line, if there is more to say
  std::vector<Parameter> query = {};
  std::string_view request = {};  // the schema of its body; empty: it takes none
  std::string_view request_type = "application/json";
  bool request_required = true;
  bool takes_idempotency_key = false;
  bool takes_preconditions = false;  // If-Match; a PUT also If-None-Match
  std::vector<RouteAnswer> answers;
  std::vector<std::string_view> errors = {};  // codes of its own, see error_codes()
  Access access = Access::workspace;
  bool is_described = true;  // else /openapi.json leaves it out
};

}  // namespace errand::server
