#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/openapi/route_info.hpp"

namespace errand::server {

// What a row's path is below: routes of a workspace.
inline constexpr std::string_view kWorkspacePath = "/api/v1/workspaces/{workspace}";

// The whole path of a route, with named parameters.
std::string full_path(const RouteInfo& route);

// The OpenAPI 3.1 document of these routes. `server_url` is what paths are relative to.
json::Object openapi_document(std::span<const RouteInfo> routes, std::string_view server_url);

}  // namespace errand::server
