#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "async/timers.hpp"
#include "base/result.hpp"
#include "cli/vendors.hpp"
#include "engine/catalog.hpp"
#include "engine/engine.hpp"
#include "llm/script.hpp"
#include "net/http_client.hpp"
#include "server/api.hpp"

namespace errand::cli {

struct ModelConfig {
  ModelInfo info;
  std::string label;
  std::optional<std::int64_t> context_window_tokens;
  std::optional<engine::Pricing> pricing;
  llm::Script script;                  // of a scripted model
  std::optional<VendorConfig> vendor;  // of one behind HTTP
};

struct WorkspaceConfig {
  WorkspaceSlug slug;
  std::vector<std::string> api_keys;  // the keys themselves
};

// The configuration file, read and checked.
struct Config {
  std::vector<ModelConfig> models;
  std::string default_model;
  std::vector<WorkspaceConfig> workspaces;
  engine::Limits limits;
  std::optional<std::size_t> body_bytes_max;
  server::MissingResult missing_result = server::MissingResult::refuse;
};

// Used when no file is named: the demo model, which needs nothing.
Config default_config();

// invalid_argument: the file cannot be read or is wrong; the message names file, pointer and
// reason.
Result<Config> read_config(const std::filesystem::path& file);

// The turns of a scripted model. invalid_argument: as read_config.
Result<llm::Script> read_script(const std::filesystem::path& file);

// What models are made with. Outlives them.
struct ModelSurroundings {
  net::HttpClient& client;
  Timers& timers;
  const Clock& clock;
  Executor home;
};

// The models of the configuration, ready to be asked.
engine::Catalog make_catalog(Config& config, const ModelSurroundings& around);

}  // namespace errand::cli
