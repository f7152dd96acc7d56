#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "a2a/a2a_tools.hpp"
#include "async/blocking_pool.hpp"
#include "async/home.hpp"
#include "async/timers.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "engine/access/key_ring.hpp"
#include "engine/children/agent_tools.hpp"
#include "engine/engine.hpp"
#include "engine/records/record_books.hpp"
#include "host/config.hpp"
#include "mcp/client/mcp_tools.hpp"
#include "net/client/http_client.hpp"
#include "room/client/room_tools.hpp"
#include "store/store.hpp"
#include "telemetry/otlp/span_exporter.hpp"
#include "tool/http/http_tools.hpp"

namespace errand::host {

// Everything that drives runs in a process, whether it serves others or only itself: the store, the
// models, the tools, the keys and the engine. Built on the thread that runs `io`; lives there.
// The owner of the host starts its engine and stops the host.
class Host final {
 public:
  // Outlive the host.
  struct Surroundings {
    asio::io_context& io;
    const Clock& clock;
    Log& log;
    ToolSource* program = nullptr;  // tools of the program itself, for runs that it asks for
    bool typed_events = false;      // for readers in this process, see agent::Surroundings
    // Runs join rooms at any address: whoever asks for runs is at this machine anyway.
    bool joins_any_room = false;
    std::string data = {};  // the directory of the secrets' key; empty: the key goes with the host
  };

  Host(Surroundings around, Config config, std::unique_ptr<Store> store);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const Config& config() const { return config_; }
  const Home& home() const { return home_; }
  AsioTimers& timers() { return timers_; }
  engine::KeyRing& keys() { return keys_; }
  const ToolSources& tools() const { return tools_; }
  engine::Engine& engine() { return engine_; }
  // What became of the spans of runs; null: nobody takes them.
  const otlp::SpanCounts* span_counts() const { return spans_ ? &spans_->counts() : nullptr; }
  // Where spans go; null: nobody takes them.
  SpanSink* spans() { return spans_.get(); }
  // For what others name: it reaches public addresses, and those of `network.allow`.
  net::HttpClient& web() { return tool_client_; }
  // For a server to pass on that the tools of configured servers have changed.
  mcp::McpTools& mcp_tools() { return mcp_tools_; }
  // For a server to let runs into its own rooms.
  room::RoomTools& rooms() { return room_tools_; }

  // Cuts off every run, see Engine::stop, and then the connections of their tools.
  Task<void> stop();

 private:
  Config config_;
  Home home_;
  AsioTimers timers_;
  IdSource ids_;
  std::unique_ptr<Store> store_;
  BlockingPool tool_pool_;  // apart from the store's, which must not wait behind a large page
  std::unique_ptr<engine::MasterKeys> secret_keys_;
  engine::RecordBooks records_;
  FixedTools plugins_;
  net::HttpClient tool_client_;    // for servers of tools that runs name
  net::HttpClient server_client_;  // for those that the configuration names
  mcp::McpTools mcp_tools_;
  a2a::A2aTools agents_;
  HttpTools http_tools_;
  room::RoomTools room_tools_;
  ToolSources tools_;  // agent_tools_ included
  net::HttpClient client_;
  std::unique_ptr<otlp::SpanExporter> spans_;  // null: nobody takes them
  engine::Catalog catalog_;
  engine::KeyRing keys_;
  engine::Engine engine_;
  engine::AgentTools agent_tools_;
};

// The configuration in the file, or the built-in one if none is named. See read_config.
Result<Config> load_config(const std::string& file);

// Threads of a process for calls that block.
inline constexpr std::size_t kBlockingThreads = 6;
static_assert(kBlockingThreads > engine::Engine::kScansMax);
inline constexpr std::size_t kBlockingQueueMax = 10'000;

// Where a process keeps its runs.
struct StorePlace {
  std::string data;   // made if it is not there
  std::string store;  // see store_file
};

// Opens the store on the disk. invalid_argument: the directory cannot be used, or the store is of
// another kind; else see SqliteStore::open.
Result<std::unique_ptr<Store>> open_store(const StorePlace& place, const Clock& clock,
                                          BlockingPool& pool, Log& log);

}  // namespace errand::host
