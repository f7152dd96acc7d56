#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "sdk/credentials.hpp"

namespace errand::sdk {

// The tools of a workspace for the MCP client on the standard input and output of this process.
class ServedMcp {
 public:
  virtual ~ServedMcp() = default;
  // Serves until the input ends. Blocks; to be called once.
  virtual Result<void> serve() = 0;
};

using ServedMcpPtr = std::unique_ptr<ServedMcp>;

// For the server that the flags name: the client's messages are passed on to its MCP endpoint.
// Errors are those of find_server.
Result<ServedMcpPtr> mcp_of_server(const ServerFlags& flags);

// Of a host of this process, on a data directory or, if `data` is empty, on a store that ends with
// it. invalid_argument: the configuration is wrong. serve() fails as OwnHost::open does.
Result<ServedMcpPtr> mcp_of_this_process(const std::string& config_file, std::string data);

}  // namespace errand::sdk
