#include "cli/operate/mcp_command.hpp"

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <csignal>
#include <memory>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"
#include "host/environment.hpp"
#include "mcp/server/relay.hpp"
#include "mcp/server/stdio_server_connection.hpp"
#include "sdk/embedded/own_host.hpp"
#include "sdk/internal/tell_stderr.hpp"
#include "server/mcp/workspace_features.hpp"

namespace errand::cli {
namespace {

mcp::HttpServer address_of(const sdk::Credentials& server) {
  mcp::HttpServer address{
      .url = cat(server.url, "/api/v1/workspaces/", percent_encode(server.workspace), "/mcp")};
  address.headers.push_back({"Authorization", cat("Bearer ", server.key)});
  return address;
}

// The client of this process, as long as it is there.
struct Served {
  mcp::Relay* relay = nullptr;
  rpc::Peer* peer = nullptr;

  void announce_change() const {
    if (peer) relay->announce_change(*peer, mcp::ListKind::tools);
  }
};

Task<Result<void>> relay(mcp::Client* client, Served* to) {
  mcp::Relay handler(*client, server::workspace_offer());
  to->relay = &handler;
  auto served = co_await mcp::serve_stdio(&handler, STDIN_FILENO, STDOUT_FILENO, sdk::report_bug,
                                          [to](rpc::Peer* peer) { to->peer = peer; });
  co_await client->stop();
  co_return served;
}

int serve_remote(const sdk::ServerFlags& flags) {
  auto server = sdk::find_server_here(flags);
  if (!server) return fail_setup(server.error());
  asio::io_context io(1);
  Home home(io);
  AsioTimers timers(home);
  net::HttpClient http(host::client_options_here());
  Served to;
  mcp::Client client(
      {.home = home.executor(), .http = http, .timers = timers, .on_bug = sdk::report_bug},
      {.server = address_of(*server), .on_tools_changed = [&to] { to.announce_change(); }});
  auto served = sdk::wait_for(io, relay(&client, &to));
  return served ? kExitOk : fail(served.error());
}

Task<Result<void>> serve_host(sdk::OwnHost* own) {
  host::Host* host = &own->host();
  ToolCaller caller(host->home().executor(), own->log(), &host->engine().records().secrets);
  TaskGroup cancelling(host->home().executor(), sdk::report_bug);
  server::WorkspaceFeatures features({.engine = host->engine(),
                                      .tools = host->tools(),
                                      .caller = caller,
                                      .schemas = std::make_shared<json::SchemaCache>(),
                                      .cancelling = cancelling},
                                     {.workspace = sdk::default_workspace(), .key = {}});
  own->start();
  auto served = co_await mcp::serve_stdio(&features, STDIN_FILENO, STDOUT_FILENO, sdk::report_bug);
  co_await caller.stop();
  co_await cancelling.join();
  co_await own->stop();
  co_return served;
}

int serve_embedded(const AgentOptions& options) {
  auto config = host::load_config(options.config);
  if (!config) return fail_usage(config.error());
  asio::io_context io(1);
  auto host = sdk::OwnHost::open({.io = io,
                                  .config = std::move(*config),
                                  .data = options.server.data.value_or(""),
                                  .typed_events = false});
  if (!host) return fail(host.error());
  auto served = sdk::wait_for(io, serve_host(host->get()));
  return served ? kExitOk : fail(served.error());
}

}  // namespace

int mcp_command(const AgentOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  auto checked = check_options(options);
  if (!checked) return fail_usage(checked.error());
  return is_embedded(options) ? serve_embedded(options) : serve_remote(options.server);
}

}  // namespace errand::cli
