#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <optional>

#include "cli/agent/agent_options.hpp"
#include "cli/show/log_lines.hpp"
#include "host/host.hpp"
#include "sdk/api_client.hpp"

namespace errand::cli {

// What the API is made with. Outlives it.
struct ApiSurroundings {
  asio::io_context& io;
  EventPrinter& printer;
  Console& console;
};

// The API that a command works with. If this process drives the runs, there is a host, and a log of
// what it does; neither is started, and whoever has started them ends them.
struct AgentApi {
  asio::io_context& io;
  sdk::ApiClient& api;
  host::Host* host = nullptr;
  LogLines* log = nullptr;
};

// What an agent without a server is configured with; nothing where there is a server.
// See load_config.
Result<std::optional<host::Config>> load_agent_config(const AgentOptions& options);

// Opens the API that the options mean, and works with it; returns the exit code of the work, or
// that of what is wrong. `config` is that of load_agent_config.
//
// With a server that is named or known it is the server's. Otherwise the engine runs in this
// process, on the data directory if one is named, or on a store that ends with it.
int with_api(ApiSurroundings around, const AgentOptions& options,
             std::optional<host::Config> config, const std::function<int(AgentApi)>& work);

}  // namespace errand::cli
