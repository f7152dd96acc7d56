#include "cli/vendors.hpp"

#include "cli/model_knobs.hpp"
#include "llm/anthropic/anthropic_provider.hpp"
#include "llm/gemini/gemini_provider.hpp"
#include "llm/openai/chat_provider.hpp"
#include "llm/openai/responses_provider.hpp"

namespace errand::cli {
namespace {

constexpr std::string_view kAnthropic = "anthropic";
constexpr std::string_view kGoogle = "google";
constexpr std::string_view kOpenAi = "openai";

constexpr Vendor kVendors[] = {
    {.name = kOpenAi, .base_url = "https://api.openai.com/v1", .api = "responses"},
    {.name = kAnthropic, .base_url = "https://api.anthropic.com", .api = ""},
    {.name = kGoogle, .base_url = "https://generativelanguage.googleapis.com", .api = ""},
    {.name = "xai", .base_url = "https://api.x.ai/v1", .api = "chat"},
    {.name = kOllama, .base_url = "http://127.0.0.1:11434/v1", .api = "chat"},
    {.name = "openai-compatible", .base_url = "", .api = "chat"},
};

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
  if (config.api == "responses") {
    return std::make_unique<llm::ResponsesProvider>(
        llm::ResponsesOptions{.model = vendor_model_id,
                              .path = "/responses",
                              .api_key = config.api_key,
                              .headers = config.headers,
                              .output_tokens_max = config.output_tokens_max,
                              .effort_min = std::string(lowest_effort(vendor_model_id))});
  }
  llm::ChatOptions options{.model = vendor_model_id,
                           .path = "/chat/completions",
                           .api_key = config.api_key,
                           .headers = config.headers,
                           .output_tokens_max = config.output_tokens_max,
                           .effort_min = std::string(lowest_effort(vendor_model_id))};
  // Compatible servers know only the older name of the limit.
  if (vendor.name != kOpenAi) options.limit_field = "max_tokens";
  return std::make_unique<llm::ChatProvider>(std::move(options));
}

}  // namespace errand::cli
