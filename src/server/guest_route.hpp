#pragma once

#include <functional>

#include "async/task.hpp"
#include "net/http.hpp"
#include "run/principal.hpp"
#include "server/openapi/route_info.hpp"

namespace errand::server {

// A route of another protocol on this server, such as MCP. The API checks its credentials, counts
// its requests against limits, and describes it in /openapi.json like any other.
struct GuestRoute {
  RouteInfo info;
  std::function<Task<net::Response>(Principal, net::Request)> handle;
};

}  // namespace errand::server
