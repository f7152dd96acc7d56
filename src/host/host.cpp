#include "host/host.hpp"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/text.hpp"
#include "crypto/random.hpp"
#include "host/environment.hpp"
#include "host/secret_key_file.hpp"
#include "host/store_file.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "tool/builtin/plugins.hpp"

namespace errand::host {
namespace {

namespace fs = std::filesystem;

// Threads for tools that block.
constexpr std::size_t kToolThreads = 2;
constexpr std::size_t kToolQueueMax = 1000;

// A first start that failed may have left `credentials`, or the temporary file for it.
constexpr std::string_view kCredentialsBegin = "credentials";

// A directory with other files in it, such as /tmp, must not be closed to other users.
bool is_ours(const fs::path& data) {
  std::error_code error;
  if (fs::exists(data / kStoreFile, error)) return true;
  for (fs::directory_iterator entry(data, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->path().filename().string().starts_with(kCredentialsBegin)) return false;
  }
  return !error;
}

// The directory holds keys and the contents of all runs, so no other user may read it.
Result<void> make_data_directory(const fs::path& data) {
  std::error_code error;
  fs::create_directories(data, error);
  if (!error && is_ours(data)) {
    // The permissions of another user's directory cannot be changed; whether it is writable is
    // checked below.
    std::error_code ignored;
    fs::permissions(data, fs::perms::owner_all, ignored);
  }
  if (!error && ::access(data.c_str(), W_OK) == 0) return {};
  return Error(
      ErrorCode::invalid_argument,
      cat("cannot write to the data directory ", data.string(), ": ",
          error ? error.message() : "permission denied", "; choose another one with --data DIR"));
}

// Options of web requests by this process's tools: addresses that are not public are refused unless
// the configuration allows them.
net::ClientOptions web_options(const Config& config) {
  net::ClientOptions options = client_options_here();
  options.addresses = net::AddressRules(config.networks, config.proxy_names);
  return options;
}

std::unique_ptr<engine::MasterKeys> make_secret_keys(const std::string& data, BlockingPool& pool) {
  if (data.empty()) return std::make_unique<engine::PassingKeys>();
  return std::make_unique<SecretKeyFile>(secret_key_path(data), environment_here(), pool);
}

TaskGroup::OnBug report_to(Log& log, std::string_view whose) {
  return [&log, whose](const char* task, const std::string& what) {
    log.error(cat("a task of ", whose, " failed; this is a bug"), {{"task", task}, {"what", what}});
  };
}

// Tools that this process has, each from its source.
struct Sources {
  ToolSource& plugins;
  RemoteToolSource& mcp;
  RemoteToolSource& agents;
  StoredToolSource& http;
  RemoteToolSource& rooms;
  ToolSource* program;
};

ToolSources make_sources(const Sources& from) {
  ToolSources sources;
  sources.add("errand", {"mantyx_plugin"}, from.plugins);
  sources.add_remote("mcp", {"mcp"}, from.mcp);
  sources.add_remote("a2a", {"a2a"}, from.agents);
  sources.add_stored("http", {"mantyx"}, from.http);
  sources.add_remote("room", {"room"}, from.rooms);
  if (from.program) sources.add("program", {"host"}, *from.program);
  return sources;
}

std::unique_ptr<otlp::SpanExporter> make_exporter(const std::string& url,
                                                  otlp::SpanExporter::Deps deps) {
  if (url.empty()) return nullptr;
  return std::make_unique<otlp::SpanExporter>(std::move(deps), url);
}

}  // namespace

Host::Host(Surroundings around, Config config, std::unique_ptr<Store> store)
    : config_(std::move(config)),
      home_(around.io),
      timers_(home_),
      ids_(around.clock, crypto::random_bits),
      store_(std::move(store)),
      tool_pool_(kToolThreads, kToolQueueMax),
      secret_keys_(make_secret_keys(around.data, tool_pool_)),
      records_(*store_, ids_, *secret_keys_),
      plugins_(make_plugins({.clock = around.clock,
                             .pool = tool_pool_,
                             .web = web_options(config_),
                             .service = client_options_here(),
                             .search = config_.search})),
      tool_client_(web_options(config_)),
      server_client_(client_options_here()),
      mcp_tools_({.home = home_.executor(),
                  .http = tool_client_,
                  .timers = timers_,
                  .on_bug = report_to(around.log, "an MCP client"),
                  .schemas = {.pool = &tool_pool_}},
                 {.servers = config_.mcp_servers, .http = server_client_}, &records_.secrets),
      agents_({.home = home_.executor(),
               .http = tool_client_,
               .timers = timers_,
               .on_bug = report_to(around.log, "an A2A client"),
               .secrets = &records_.secrets,
               .pool = &tool_pool_}),
      http_tools_(tool_client_, records_.tools),
      room_tools_({.home = home_.executor(),
                   .timers = timers_,
                   .on_bug = report_to(around.log, "a participant of a room"),
                   .web = around.joins_any_room ? client_options_here() : web_options(config_),
                   .secrets = &records_.secrets,
                   .schemas = {.pool = &tool_pool_}}),
      tools_(make_sources({.plugins = plugins_,
                           .mcp = mcp_tools_,
                           .agents = agents_,
                           .http = http_tools_,
                           .rooms = room_tools_,
                           .program = around.program})),
      client_(client_options_here()),
      spans_(make_exporter(
          config_.otlp_url,
          {.home = home_.executor(), .http = client_, .timers = timers_, .log = around.log})),
      catalog_(make_catalog(config_, {.client = client_,
                                      .timers = timers_,
                                      .clock = around.clock,
                                      .home = home_.executor(),
                                      .log = around.log,
                                      .pool = &tool_pool_})),
      keys_(*store_, around.clock, ids_),
      engine_({.home = home_,
               .store = *store_,
               .clock = around.clock,
               .timers = timers_,
               .ids = ids_,
               .catalog = catalog_,
               .tools = tools_,
               .log = around.log,
               .typed_events = around.typed_events,
               .spans = spans_.get(),
               .ledger = &keys_,
               .records = &records_,
               .pool = &tool_pool_},
              config_.limits),
      agent_tools_(engine_) {
  tools_.add_stored("agents", {"agent"}, agent_tools_);
}

Task<void> Host::stop() {
  co_await engine_.stop();
  co_await mcp_tools_.stop();
  co_await agents_.stop();
  co_await room_tools_.stop();
  if (spans_) co_await spans_->stop();
}

Result<Config> load_config(const std::string& file) {
  if (file.empty()) return default_config(environment_here());
  return read_config(file, environment_here());
}

Result<std::unique_ptr<Store>> open_store(const StorePlace& place, const Clock& clock,
                                          BlockingPool& pool, Log& log) {
  ERRAND_CHECK(make_data_directory(place.data));
  ERRAND_TRY(auto path, store_file(place.data, place.store));
  ERRAND_TRY(auto store,
             SqliteStore::open({.path = path.string(), .clock = clock, .pool = pool, .log = log}));
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace errand::host
