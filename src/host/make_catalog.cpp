// From a configuration to models that can be asked.
#include <map>
#include <utility>

#include "crypto/random.hpp"
#include "host/config.hpp"
#include "host/discovered_source.hpp"
#include "host/ollama_models.hpp"
#include "llm/demo/demo_model.hpp"
#include "llm/fallback_model.hpp"
#include "llm/held_calls.hpp"
#include "llm/http/http_model.hpp"
#include "llm/no_images.hpp"
#include "llm/scripted/scripted_model.hpp"

namespace errand::host {
namespace {

// Models by id, without their fallback models.
using PlainModels = std::map<std::string, std::shared_ptr<llm::Model>>;

// Shorter header values could be ordinary words of a message.
constexpr std::size_t kSecretBytesMin = 8;

// The secrets that are sent to the vendor. A header may name a scheme before its secret.
std::vector<std::string> secrets_of(const VendorConfig& config) {
  std::vector<std::string> secrets{config.api_key};
  for (const auto& [name, value] : config.headers) {
    const std::string secret = value.substr(value.rfind(' ') + 1);
    if (secret.size() >= kSecretBytesMin) secrets.push_back(secret);
  }
  return secrets;
}

std::unique_ptr<llm::Model> make_vendor_model(std::string_view provider, const VendorConfig& config,
                                              const std::string& vendor_model_id,
                                              const ModelSurroundings& around) {
  llm::HttpModelOptions options{
      .base_url = config.base_url, .retries = config.retries, .secrets = secrets_of(config)};
  if (config.timeout) options.timeouts.total = *config.timeout;
  auto model = std::make_unique<llm::HttpModel>(
      llm::HttpModel::Deps{.client = around.client,
                           .timers = around.timers,
                           .clock = around.clock,
                           .random = crypto::random_bits,
                           .pool = around.pool},
      make_provider(*find_vendor(provider), config, vendor_model_id), std::move(options));
  if (config.sees_images) return model;
  return std::make_unique<llm::NoImagesModel>(std::move(model));
}

std::unique_ptr<llm::Model> make_model(ModelConfig& model, const ModelSurroundings& around) {
  if (model.make) return model.make(around);
  if (model.vendor) {
    return make_vendor_model(model.info.provider, *model.vendor, model.info.vendor_model_id,
                             around);
  }
  if (model.info.provider == kScripted) {
    return llm::make_scripted_model(std::move(model.script), around.timers, around.home);
  }
  return llm::make_demo_model(around.timers, around.home, around.pool);
}

PlainModels make_plain_models(Config& config, const ModelSurroundings& around) {
  PlainModels plain;
  for (ModelConfig& model : config.models) {
    std::unique_ptr<llm::Model> made = make_model(model, around);
    if (!model.starts_early) made = std::make_unique<llm::HeldCallsModel>(std::move(made));
    plain.emplace(model.info.id, std::move(made));
  }
  return plain;
}

// The model and its fallback models, in the order in which they are asked; empty if it has none.
std::vector<llm::NamedModel> chain_of(const Config& config, const ModelConfig& model,
                                      const PlainModels& plain) {
  std::vector<llm::NamedModel> chain;
  if (model.fallback.empty()) return chain;
  for (const std::string& id : fallback_chain(config.models, model.info.id)) {
    const ModelConfig& link = *find_model(config.models, id);
    chain.push_back({.info = link.info, .model = plain.at(id), .price = link.pricing});
  }
  return chain;
}

engine::CatalogSource make_source(const Config& config, const ModelSurroundings& around) {
  if (!config.ollama) return {};
  std::vector<std::string> known;
  for (const ModelConfig& model : config.models) {
    if (model.info.provider == kOllama) known.push_back(model.info.vendor_model_id);
  }
  auto make = [ollama = *config.ollama, around](const std::string& name) {
    return make_vendor_model(kOllama, ollama, name, around);
  };
  std::unique_ptr<engine::ModelSource> models = std::make_unique<OllamaModels>(
      OllamaModels::Deps{
          .client = around.client, .timers = around.timers, .home = around.home, .make = make},
      *config.ollama, known);
  if (!config.vendors.empty()) {
    auto make_any = [around](const std::string& provider, const VendorConfig& vendor,
                             const std::string& vendor_model_id) {
      return make_vendor_model(provider, vendor, vendor_model_id, around);
    };
    models =
        std::make_unique<DiscoveredSource>(std::move(models), config.vendors, std::move(make_any));
  }
  return {.models = std::move(models), .position = config.ollama_position};
}

}  // namespace

engine::Catalog make_catalog(Config& config, const ModelSurroundings& around) {
  PlainModels plain = make_plain_models(config, around);
  std::vector<engine::CatalogModel> models;
  for (const ModelConfig& model : config.models) {
    std::vector<llm::NamedModel> chain = chain_of(config, model, plain);
    std::shared_ptr<llm::Model> made = plain.at(model.info.id);
    if (!chain.empty()) made = std::make_shared<llm::FallbackModel>(chain, around.log);
    models.push_back({.info = model.info,
                      .label = model.label,
                      .context_window_tokens = model.context_window_tokens,
                      .pricing = model.pricing,
                      .model = std::move(made),
                      .chain = std::move(chain)});
  }
  return {std::move(models), config.default_model, make_source(config, around)};
}

}  // namespace errand::host
