#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <optional>

#include "cli/agent_options.hpp"
#include "cli/api_client.hpp"
#include "cli/host.hpp"

namespace errand::cli {

// The API that a command works with.
struct AgentApi {
  asio::io_context& io;
  ApiClient& api;
  Host* host = nullptr;  // what drives the runs, if that is this process; not started
};

// What an agent without a server is configured with; nothing where there is a server.
// See load_config.
Result<std::optional<Config>> load_agent_config(const AgentOptions& options);

// Opens the API that the options mean, and works with it; returns the exit code of the work, or
// that of what is wrong. `config` is that of load_agent_config.
//
// With a server that is named or known it is the server's. Otherwise the engine runs in this
// process, on the data directory if one is named, or on a store that ends with it.
int with_api(asio::io_context& io, const AgentOptions& options, std::optional<Config> config,
             const std::function<int(AgentApi)>& work);

}  // namespace errand::cli
