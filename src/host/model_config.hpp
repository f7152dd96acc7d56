#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/models/catalog.hpp"
#include "host/vendors.hpp"
#include "json/value.hpp"
#include "llm/script.hpp"
#include "net/client/proxy.hpp"

namespace errand::host {

constexpr std::string_view kDemo = "demo";
constexpr std::string_view kScripted = "scripted";
constexpr std::size_t kModelsMax = 1000;

struct ModelSurroundings;

// A model that the configuration names.
struct ModelConfig {
  ModelInfo info;
  std::string label;
  std::optional<std::int64_t> context_window_tokens;
  std::optional<Pricing> pricing;
  llm::Script script;                  // of a scripted model
  std::optional<VendorConfig> vendor;  // of one behind HTTP
  // Of a model in the code of an embedding program.
  std::function<std::unique_ptr<llm::Model>(const ModelSurroundings&)> make = {};
  bool starts_early = true;           // calls start while the model still streams
  std::vector<std::string> fallback;  // ids of models that are asked when it gives no answer
};

// What a model may have as its provider.
std::vector<std::string> provider_names();

// The turns of a scripted model. invalid_argument: the message names the file.
Result<llm::Script> read_script(const std::filesystem::path& file);

// nullptr: none has this id.
const ModelConfig* find_model(const std::vector<ModelConfig>& models, std::string_view id);

// That none has this id, and which ones there are.
std::string no_such_model(const std::vector<ModelConfig>& models, const std::string& id);

// What "models" lists. Scripts are found beside the file, in `folder`.
// invalid_argument: with the pointer.
Result<std::vector<ModelConfig>> parse_models(const json::Array& models,
                                              const std::filesystem::path& folder,
                                              const net::Environment& environment);

// The ids of all models that are asked for this one, in order: itself, then each of its fallbacks
// with those of that one, none twice.
std::vector<std::string> fallback_chain(const std::vector<ModelConfig>& models,
                                        const std::string& id);

}  // namespace errand::host
