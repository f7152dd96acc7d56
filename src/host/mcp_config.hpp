#pragma once

#include <map>
#include <string>

#include "base/result.hpp"
#include "json/value.hpp"
#include "mcp/client/mcp_tools.hpp"
#include "net/client/proxy.hpp"

namespace errand::host {

// The MCP servers of a configuration file, by their names. invalid_argument: with the pointer.
Result<std::map<std::string, mcp::ConfiguredServer>> parse_mcp_servers(
    const json::Object& servers, const net::Environment& environment);

}  // namespace errand::host
