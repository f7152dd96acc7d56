#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "llm/provider.hpp"

namespace errand::host {

constexpr std::string_view kAzure = "azure-openai";
constexpr std::string_view kOllama = "ollama";

// How to reach a model of a vendor, as the configuration file says.
struct VendorConfig {
  std::string base_url;  // without a slash at its end
  std::string api_key;   // empty: none is sent
  llm::HeaderList headers;
  std::optional<milliseconds> timeout;  // of a whole turn
  int retries = 2;
  std::optional<std::int64_t> output_tokens_max;
  std::string api;          // of the OpenAI family: "responses" or "chat"
  std::string api_version;  // of Azure; empty: v1
  bool sees_images = true;
};

// A kind of provider that the configuration may name.
struct Vendor {
  std::string_view name;
  std::string_view base_url;  // where it is unless the configuration says otherwise; may be empty
  std::string_view api;       // of the OpenAI family, unless the configuration says otherwise
};

// nullptr: there is no such vendor.
const Vendor* find_vendor(std::string_view name);
std::span<const Vendor> vendors();

std::unique_ptr<llm::Provider> make_provider(const Vendor& vendor, const VendorConfig& config,
                                             const std::string& vendor_model_id);

}  // namespace errand::host
