#include "host/vendors.hpp"

#include "base/text.hpp"
#include "host/model_knobs.hpp"
#include "llm/anthropic/anthropic_provider.hpp"
#include "llm/gemini/gemini_provider.hpp"
#include "llm/openai/azure.hpp"
#include "llm/openai/chat_provider.hpp"
#include "llm/openai/responses_provider.hpp"

namespace errand::host {
namespace {

constexpr std::string_view kAnthropic = "anthropic";
constexpr std::string_view kGoogle = "google";
constexpr std::string_view kOpenAi = "openai";

constexpr Vendor kVendors[] = {
    {.name = kOpenAi, .base_url = "https://api.openai.com/v1", .api = "responses"},
    {.name = kAzure, .base_url = "", .api = "chat"},
    {.name = kAnthropic, .base_url = "https://api.anthropic.com", .api = ""},
    {.name = kGoogle, .base_url = "https://generativelanguage.googleapis.com", .api = ""},
    {.name = "xai", .base_url = "https://api.x.ai/v1", .api = "chat"},
    {.name = kOllama, .base_url = "http://127.0.0.1:11434/v1", .api = "chat"},
    {.name = "openai-compatible", .base_url = "", .api = "chat"},
};

// How a vendor of the OpenAI family is reached.
struct Endpoint {
  llm::AzurePaths paths;  // without a path for the list of models, which is elsewhere
  std::string api_key;    // empty: the headers have it, or there is none
  llm::HeaderList headers;
};

Endpoint endpoint_of(std::string_view name, const Vendor& vendor, const VendorConfig& config,
                     std::string_view vendor_model_id) {
  if (vendor.name != kAzure) {
    return {.paths = {.endpoint = std::string(name), .models = ""},
            .api_key = config.api_key,
            .headers = config.headers};
  }
  Endpoint out{.paths = llm::azure_paths(name, vendor_model_id, config.api_version),
               .api_key = "",
               .headers = config.headers};
  if (!config.api_key.empty()) out.headers.emplace_back("api-key", config.api_key);
  return out;
}

std::unique_ptr<llm::Provider> make_responses(const Vendor& vendor, const VendorConfig& config,
                                              const std::string& vendor_model_id) {
  Endpoint endpoint = endpoint_of("/responses", vendor, config, vendor_model_id);
  return std::make_unique<llm::ResponsesProvider>(
      llm::ResponsesOptions{.model = vendor_model_id,
                            .path = std::move(endpoint.paths.endpoint),
                            .models_path = std::move(endpoint.paths.models),
                            .origin = cat(vendor.name, "-responses"),
                            .api_key = std::move(endpoint.api_key),
                            .headers = std::move(endpoint.headers),
                            .output_tokens_max = config.output_tokens_max,
                            .effort_min = std::string(lowest_effort(vendor_model_id))});
}

std::unique_ptr<llm::Provider> make_chat(const Vendor& vendor, const VendorConfig& config,
                                         const std::string& vendor_model_id) {
  Endpoint endpoint = endpoint_of("/chat/completions", vendor, config, vendor_model_id);
  llm::ChatOptions options{.model = vendor_model_id,
                           .path = std::move(endpoint.paths.endpoint),
                           .models_path = std::move(endpoint.paths.models),
                           .api_key = std::move(endpoint.api_key),
                           .headers = std::move(endpoint.headers),
                           .output_tokens_max = config.output_tokens_max,
                           .effort_min = std::string(lowest_effort(vendor_model_id))};
  // Compatible servers know only the older name of this limit.
  bool is_compatible = vendor.name != kOpenAi && vendor.name != kAzure;
  if (is_compatible) options.limit_field = "max_tokens";
  return std::make_unique<llm::ChatProvider>(std::move(options));
}

}  // namespace

const Vendor* find_vendor(std::string_view name) {
  for (const Vendor& vendor : kVendors) {
    if (vendor.name == name) return &vendor;
  }
  return nullptr;
}

std::span<const Vendor> vendors() {
  return kVendors;
}

std::unique_ptr<llm::Provider> make_provider(const Vendor& vendor, const VendorConfig& config,
                                             const std::string& vendor_model_id) {
  if (vendor.name == kAnthropic) {
    llm::AnthropicOptions options{
        .model = vendor_model_id, .api_key = config.api_key, .headers = config.headers};
    options.thinking = anthropic_thinking(vendor_model_id);
    if (config.output_tokens_max) options.output_tokens_max = *config.output_tokens_max;
    return std::make_unique<llm::AnthropicProvider>(std::move(options));
  }
  if (vendor.name == kGoogle) {
    llm::GeminiOptions options{.model = vendor_model_id,
                               .api_key = config.api_key,
                               .headers = config.headers,
                               .output_tokens_max = config.output_tokens_max};
    set_thinking(options);
    return std::make_unique<llm::GeminiProvider>(std::move(options));
  }
  if (config.api == "responses") return make_responses(vendor, config, vendor_model_id);
  return make_chat(vendor, config, vendor_model_id);
}

}  // namespace errand::host
