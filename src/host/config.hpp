#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "async/timers.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "engine/engine.hpp"
#include "engine/models/catalog.hpp"
#include "host/discovery.hpp"
#include "host/model_config.hpp"
#include "mcp/client/mcp_tools.hpp"
#include "net/address_rules.hpp"
#include "net/client/http_client.hpp"
#include "run/log/mail.hpp"
#include "tool/builtin/web/search_service.hpp"

namespace errand::host {

struct WorkspaceConfig {
  WorkspaceSlug slug;
  std::vector<std::string> api_keys;  // the keys themselves
  std::vector<std::string> rooms;     // made when the server starts
  bool rooms_on_join = true;          // others are made by the first participant who joins
};

// The configuration file, read and checked.
struct Config {
  std::vector<ModelConfig> models;
  std::string default_model;
  // How to reach an Ollama whose models are found at run time, if one is wanted; they are listed
  // behind the first `ollama_position` models.
  std::optional<VendorConfig> ollama;
  std::size_t ollama_position = 0;
  // Vendors of the environment, whose models callers may name without a list; of a configuration
  // that lists models there are none.
  std::vector<KeyedVendor> vendors;
  std::vector<WorkspaceConfig> workspaces;
  engine::Limits limits;
  std::optional<std::size_t> body_bytes_max;
  std::optional<std::size_t> connections_max;        // of clients
  std::optional<std::uint32_t> requests_per_minute;  // of each key
  MissingResult missing_result = MissingResult::refuse;
  std::map<std::string, mcp::ConfiguredServer> mcp_servers;  // by name
  std::vector<net::AddressPrefix> networks;  // that tools may reach besides public addresses
  net::ProxyNames proxy_names = net::ProxyNames::judged_here;
  bool compresses_rooms = false;  // messages of rooms, if the client offers it
  std::string otlp_url = {};      // of the collector that takes spans; empty: nobody does
  std::optional<SearchService> search = {};  // for web_search; absent: nobody can search
};

// Used when no file is named: the models of vendors whose keys are in the environment, those of an
// Ollama, and the demo model, which needs nothing.
// invalid_argument: a variable is wrong; the message names it.
Result<Config> default_config(const net::Environment& environment);

// invalid_argument: the file cannot be read or is wrong; the message names file, pointer and
// reason.
Result<Config> read_config(const std::filesystem::path& file, const net::Environment& environment);

// What models are made with. Outlives them.
struct ModelSurroundings {
  net::HttpClient& client;
  Timers& timers;
  const Clock& clock;
  Executor home;
  Log& log;
  BlockingPool* pool = nullptr;  // see llm::HttpModel::Deps
};

// The models of the configuration, ready to be asked. In make_catalog.cpp.
engine::Catalog make_catalog(Config& config, const ModelSurroundings& around);

}  // namespace errand::host
