#include "host/discovery.hpp"

#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "net/url.hpp"

namespace errand::host {
namespace {

constexpr std::string_view kOllamaPort = "11434";

struct KnownModel {
  std::string_view vendor_model_id;
  std::string_view label;
};

// A vendor whose key may be in the environment, with the models worth listing. The first model is
// the default.
struct KnownVendor {
  std::string_view name;
  std::string_view variables;  // the prefix of its variables
  std::vector<KnownModel> models;
};

const std::vector<KnownVendor>& known_vendors() {
  static const std::vector<KnownVendor> vendors = {
      {"openai", "OPENAI", {{"gpt-5.5", "GPT-5.5"}, {"gpt-5.4-mini", "GPT-5.4 mini"}}},
      {"anthropic",
       "ANTHROPIC",
       {{"claude-sonnet-5-5", "Claude Sonnet 5.5"},
        {"claude-opus-5-5", "Claude Opus 5.5"},
        {"claude-haiku-5-5", "Claude Haiku 5.5"}}},
      {"google",
       "GEMINI",
       {{"gemini-3.7-flash", "Gemini 3.7 Flash"},
        {"gemini-3.1-pro-preview", "Gemini 3.1 Pro (preview)"}}},
      {"xai", "XAI", {{"grok-4.6", "Grok 4.6"}, {"grok-4.3", "Grok 4.3"}}},
  };
  return vendors;
}

std::string variable(const net::Environment& environment, const std::string& name) {
  return std::string(trim(environment(name).value_or("")));
}

// The URL without trailing slashes.
Result<std::string> checked_url(const std::string& name, std::string url) {
  url = net::without_trailing_slashes(url);
  auto parsed = net::parse_url(url);
  if (parsed) return url;
  return Error(ErrorCode::invalid_argument,
               cat("the environment variable ", name, ": ", parsed.error().message()));
}

Result<KeyedVendor> keyed_vendor(const KnownVendor& known, const net::Environment& environment) {
  KeyedVendor out{.name = std::string(known.name),
                  .key_variable = cat(known.variables, "_API_KEY"),
                  .config = {}};
  std::string key = variable(environment, out.key_variable);
  if (key.empty()) return out;
  const Vendor& vendor = *find_vendor(known.name);
  std::string name = cat(known.variables, "_BASE_URL");
  std::string url = variable(environment, name);
  if (url.empty()) url = vendor.base_url;
  ERRAND_TRY(url, checked_url(name, std::move(url)));
  out.config = VendorConfig{.base_url = std::move(url), .api_key = std::move(key)};
  out.config->api = vendor.api;
  return out;
}

void add_listed(const KnownVendor& known, const VendorConfig& config,
                std::vector<ModelConfig>& models) {
  for (const KnownModel& model : known.models) {
    models.push_back({.info = {.id = cat(known.name, "/", model.vendor_model_id),
                               .provider = std::string(known.name),
                               .vendor_model_id = std::string(model.vendor_model_id)},
                      .label = std::string(model.label),
                      .vendor = config});
  }
}

// Reads OLLAMA_HOST as Ollama's own client does: scheme and port may be missing, and the address
// for listening everywhere means this machine.
std::string ollama_url(std::string host) {
  if (host.empty()) return cat("http://127.0.0.1:", kOllamaPort);
  std::string scheme = "http://";
  std::string_view rest = host;
  std::size_t mark = rest.find("://");
  bool has_scheme = mark != std::string_view::npos;
  if (has_scheme) {
    scheme = rest.substr(0, mark + 3);
    rest.remove_prefix(mark + 3);
  }
  std::string address(net::without_trailing_slashes(rest));
  bool is_bare_v6 = address.find("::") != std::string::npos && !address.starts_with('[');
  if (is_bare_v6) address = cat("[", address, "]");
  if (address.starts_with(':')) address = cat("127.0.0.1", address);
  if (address.starts_with("0.0.0.0")) address.replace(0, 7, "127.0.0.1");
  std::size_t after_host = address.starts_with('[') ? address.find(']') : 0;
  bool has_port = address.find(':', after_host) != std::string::npos;
  if (!has_port && !has_scheme) append(address, ":", kOllamaPort);
  return cat(scheme, address);
}

}  // namespace

Result<DiscoveredModels> discover_models(const net::Environment& environment) {
  DiscoveredModels out;
  for (const KnownVendor& vendor : known_vendors()) {
    ERRAND_TRY(auto keyed, keyed_vendor(vendor, environment));
    if (keyed.config) add_listed(vendor, *keyed.config, out.of_keys);
    out.vendors.push_back(std::move(keyed));
  }
  ERRAND_TRY(auto url,
             checked_url("OLLAMA_HOST", ollama_url(variable(environment, "OLLAMA_HOST"))));
  out.ollama.base_url = cat(url, "/v1");
  out.ollama.api = "chat";
  out.demo = {.info = {.id = "demo", .provider = std::string(kDemo), .vendor_model_id = "demo"},
              .label = "Demo"};
  return out;
}

}  // namespace errand::host
