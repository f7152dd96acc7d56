#include "sdk/internal/served_mcp.hpp"

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <utility>

#include "base/text.hpp"
#include "host/environment.hpp"
#include "mcp/server/relay.hpp"
#include "mcp/server/stdio_server_connection.hpp"
#include "sdk/embedded/own_host.hpp"
#include "sdk/internal/wait_for.hpp"
#include "server/mcp/workspace_features.hpp"

namespace errand::sdk {
namespace {

// ---- Of a server --------------------------------------------------------------------------------

mcp::HttpServer address_of(const Credentials& server) {
  mcp::HttpServer address{
      .url = cat(server.url, "/api/v1/workspaces/", percent_encode(server.workspace), "/mcp")};
  address.headers.push_back({"Authorization", cat("Bearer ", server.key)});
  return address;
}

// The client of this process, while it is connected.
struct Relayed {
  mcp::Relay* relay = nullptr;
  rpc::Peer* peer = nullptr;

  void announce_change() const {
    if (peer) relay->announce_change(*peer, mcp::ListKind::tools);
  }
};

Task<Result<void>> relay(mcp::Client* client, Relayed* to) {
  mcp::Relay handler(*client, server::workspace_offer());
  to->relay = &handler;
  auto served = co_await mcp::serve_stdio(&handler, STDIN_FILENO, STDOUT_FILENO, report_bug,
                                          [to](rpc::Peer* peer) { to->peer = peer; });
  co_await client->stop();
  co_return served;
}

class RelayedMcp final : public ServedMcp {
 public:
  explicit RelayedMcp(Credentials server) : server_(std::move(server)) {}

  Result<void> serve() override {
    asio::io_context io(1);
    Home home(io);
    AsioTimers timers(home);
    net::HttpClient http(host::client_options_here());
    Relayed to;
    mcp::Client client(
        {.home = home.executor(), .http = http, .timers = timers, .on_bug = report_bug},
        {.server = address_of(server_), .on_tools_changed = [&to] { to.announce_change(); }});
    return wait_for(io, relay(&client, &to));
  }

 private:
  const Credentials server_;
};

// ---- Of this process ----------------------------------------------------------------------------

Task<Result<void>> serve_host(OwnHost* own) {
  host::Host* host = &own->host();
  ToolCaller caller(host->home().executor(), own->log(), &host->engine().records().secrets);
  TaskGroup cancelling(host->home().executor(), report_bug);
  server::WorkspaceFeatures features({.engine = host->engine(),
                                      .tools = host->tools(),
                                      .caller = caller,
                                      .schemas = std::make_shared<json::SchemaCache>(),
                                      .cancelling = cancelling},
                                     {.workspace = default_workspace(), .key = {}});
  own->start();
  auto served = co_await mcp::serve_stdio(&features, STDIN_FILENO, STDOUT_FILENO, report_bug);
  co_await caller.stop();
  co_await cancelling.join();
  co_await own->stop();
  co_return served;
}

class HostedMcp final : public ServedMcp {
 public:
  HostedMcp(host::Config config, std::string data)
      : config_(std::move(config)), data_(std::move(data)) {}

  Result<void> serve() override {
    asio::io_context io(1);
    ERRAND_TRY(auto host,
               OwnHost::open(
                   {.io = io, .config = std::move(config_), .data = data_, .typed_events = false}));
    return wait_for(io, serve_host(host.get()));
  }

 private:
  host::Config config_;  // moved from when it is served
  const std::string data_;
};

}  // namespace

Result<ServedMcpPtr> mcp_of_server(const ServerFlags& flags) {
  ERRAND_TRY(auto server, find_server_here(flags));
  return ServedMcpPtr(std::make_unique<RelayedMcp>(std::move(server)));
}

Result<ServedMcpPtr> mcp_of_this_process(const std::string& config_file, std::string data) {
  ERRAND_TRY(auto config, host::load_config(config_file));
  return ServedMcpPtr(std::make_unique<HostedMcp>(std::move(config), std::move(data)));
}

}  // namespace errand::sdk
