#include "cli/agent/agent_api.hpp"

#include <utility>

#include "cli/terminal/report.hpp"
#include "host/environment.hpp"
#include "sdk/embedded_api.hpp"
#include "sdk/http_api.hpp"
#include "store/memory/memory_store.hpp"

namespace errand::cli {
namespace {

using Work = std::function<int(AgentApi)>;

int with_server(asio::io_context& io, const AgentOptions& options, const Work& work) {
  auto server = find_server_here(options.server);
  if (!server) return fail_setup(server.error());
  sdk::HttpApi api(*server, host::client_options_here());
  return work({.io = io, .api = api});
}

// A store of its own is gone with the process; one in a directory is continued by the next process.
Result<std::unique_ptr<Store>> make_store(const AgentOptions& options, const Clock& clock,
                                          BlockingPool& pool, Log& log) {
  if (!options.server.data) {
    return std::unique_ptr<Store>(std::make_unique<MemoryStore>(make_memory_store_data(), clock));
  }
  auto store = host::open_store({.data = *options.server.data, .store = {}}, clock, pool, log);
  if (store || store.error().code() != ErrorCode::conflict) return store;
  return Error(store.error())
      .hint("wait for it, be its client with --server URL --key KEY, or choose another --data DIR");
}

int with_host(ApiSurroundings around, const AgentOptions& options, host::Config config,
              const Work& work) {
  SystemClock clock;
  LogLines lines({.io = around.io, .printer = around.printer, .console = around.console});
  Log log(clock, lines.fd(), LogFormat::text, LogLevel::warning);
  BlockingPool pool(host::kBlockingThreads, host::kBlockingQueueMax);
  auto store = make_store(options, clock, pool, log);
  if (!store) {
    bool is_usage = store.error().code() == ErrorCode::invalid_argument;
    return is_usage ? fail_usage(store.error()) : fail(store.error());
  }
  host::Host host({.io = around.io, .clock = clock, .log = log}, std::move(config),
                  std::move(*store));
  sdk::EmbeddedApi api(host);
  return work({.io = around.io, .api = api, .host = &host, .log = &lines});
}

}  // namespace

Result<std::optional<host::Config>> load_agent_config(const AgentOptions& options) {
  if (!is_embedded(options)) return std::optional<host::Config>();
  ERRAND_TRY(host::Config config, host::load_config(options.config));
  return std::optional<host::Config>(std::move(config));
}

int with_api(ApiSurroundings around, const AgentOptions& options,
             std::optional<host::Config> config, const Work& work) {
  if (!config) return with_server(around.io, options, work);
  return with_host(around, options, std::move(*config), work);
}

}  // namespace errand::cli
