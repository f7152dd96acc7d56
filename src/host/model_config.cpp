#include "host/model_config.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "host/settings.hpp"
#include "json/fields.hpp"
#include "json/place.hpp"
#include "llm/openai/azure.hpp"
#include "net/url.hpp"

namespace errand::host {
namespace {

namespace fs = std::filesystem;
using json::Fields;

constexpr std::int64_t kTimeoutMillisMax = 36'525LL * 86'400'000;  // longer is a typo
constexpr std::int64_t kRetriesMax = 10;
constexpr std::size_t kFallbacksMax = 10;

Error wrong_model(std::string message, std::string_view pointer) {
  return Error(ErrorCode::invalid_argument, std::move(message)).pointer(pointer);
}

std::optional<double> parse_price(Fields& in, std::string_view key) {
  auto price = in.optional_number(key);
  if (price && *price < 0) in.fail(key, "a price is not negative");
  return price;
}

std::optional<Pricing> parse_pricing(Fields& in) {
  const json::Value* value = in.optional_any("pricing");
  if (!value) return {};
  std::string pointer = in.pointer_to("pricing");
  auto known = refuse_unknown(*value, pointer, Section::pricing);
  if (!known) in.fail(std::move(known).error());
  Fields pricing(*value, pointer);
  Pricing out{.input_per_1m_usd = parse_price(pricing, "inputPer1MUsd"),
              .output_per_1m_usd = parse_price(pricing, "outputPer1MUsd"),
              .cache_read_per_1m_usd = parse_price(pricing, "cacheReadPer1MUsd")};
  if (auto done = pricing.finish(); !done) in.fail(std::move(done).error());
  return out;
}

Result<llm::HeaderList> parse_headers(Fields& in, const net::Environment& environment) {
  llm::HeaderList headers;
  const json::Object* object = in.optional_object("headers");
  if (!object) return headers;
  for (const auto& member : *object) {
    std::string pointer = json::child_pointer(in.pointer_to("headers"), member.key());
    const auto* text = member.value().if_string();
    if (!text) return wrong_model("expected a string", pointer);
    ERRAND_TRY(auto value, resolve_secret(std::string(json::view(*text)), pointer, environment));
    headers.emplace_back(to_lower(member.key()), std::move(value));
  }
  return headers;
}

std::string parse_base_url(Fields& in, const Vendor& vendor) {
  std::string text = in.optional_text("baseUrl").value_or(std::string(vendor.base_url));
  text = net::without_trailing_slashes(text);
  if (text.empty()) {
    in.fail("baseUrl", cat("a model of the provider ", vendor.name, " needs a baseUrl"));
  } else if (auto url = net::parse_url(text); !url) {
    in.fail("baseUrl", url.error().message());
  }
  if (vendor.name != kAzure) return text;
  // Azure's pages show the whole URL of a request for a deployment.
  if (text.find("/deployments/") != text.npos || text.find('?') != text.npos) {
    in.fail("baseUrl",
            "only the address of the resource, such as https://NAME.openai.azure.com; the "
            "deployment goes into vendorModelId, the version into apiVersion");
  }
  return std::string(llm::azure_resource(text));
}

std::string parse_api_version(Fields& in, const Vendor& vendor) {
  auto version = in.optional_text("apiVersion");
  if (!version) return "";
  if (vendor.name != kAzure) {
    in.fail("apiVersion", cat("only a model of the provider ", kAzure, " has one"));
  } else if (!llm::is_azure_version(*version)) {
    in.fail("apiVersion",
            "a version is a date, such as 2024-10-21; leave it out to use Azure's v1 API");
  }
  return *version;
}

Result<VendorConfig> parse_vendor(Fields& in, const Vendor& vendor,
                                  const net::Environment& environment) {
  VendorConfig config;
  config.base_url = parse_base_url(in, vendor);
  config.api_version = parse_api_version(in, vendor);
  if (auto key = in.optional_text("apiKey")) {
    ERRAND_TRY(config.api_key, resolve_secret(*key, in.pointer_to("apiKey"), environment));
  }
  ERRAND_TRY(config.headers, parse_headers(in, environment));
  if (auto millis = in.optional_integer("timeoutMs", 1, kTimeoutMillisMax)) {
    config.timeout = milliseconds(*millis);
  }
  config.retries = static_cast<int>(in.optional_integer("retries", 0, kRetriesMax).value_or(2));
  config.output_tokens_max = in.optional_integer("maxOutputTokens", 1, INT32_MAX);
  config.sees_images = in.optional_flag("images").value_or(true);
  config.api = in.optional_text("api").value_or(std::string(vendor.api));
  bool is_known =
      vendor.api.empty() ? config.api.empty() : config.api == "responses" || config.api == "chat";
  if (!is_known) in.fail("api", "only models of the OpenAI family have one: responses or chat");
  ERRAND_CHECK(in.finish());
  return config;
}

Result<std::vector<std::string>> parse_fallback(Fields& in) {
  std::vector<std::string> out;
  const json::Array* ids = in.optional_array("fallback");
  if (!ids) return out;
  if (ids->size() > kFallbacksMax) {
    return wrong_model(cat("a model has at most ", kFallbacksMax, " others to fall back to"),
                       in.pointer_to("fallback"));
  }
  for (std::size_t i = 0; i < ids->size(); ++i) {
    const auto* id = (*ids)[i].if_string();
    if (!id)
      return wrong_model("expected a string", json::child_pointer(in.pointer_to("fallback"), i));
    out.emplace_back(json::view(*id));
  }
  return out;
}

// Refuses settings for HTTP on models that do not use HTTP.
Result<void> check_known(const json::Value& value, std::string_view pointer, bool is_vendors) {
  return refuse_unknown(value, pointer, is_vendors ? Section::vendor_model : Section::other_model);
}

// The provider, which has to be a known one.
std::string parse_provider(Fields& in) {
  std::string provider = in.text("provider");
  std::vector<std::string> names = provider_names();
  bool is_known = std::find(names.begin(), names.end(), provider) != names.end();
  if (in.ok() && !is_known) {
    in.fail("provider", cat("\"", provider, "\" is not a provider of this version; ",
                            meant_or_listed(provider, names)));
  }
  return provider;
}

Result<ModelConfig> parse_model(const json::Value& value, const std::string& pointer,
                                const fs::path& folder, const net::Environment& environment) {
  Fields in(value, pointer);
  ModelConfig model;
  model.info.id = in.text("id");
  model.info.provider = parse_provider(in);
  if (in.ok() && model.info.id.empty()) in.fail("id", "an id has at least one character");
  ERRAND_CHECK(in.finish());
  bool is_scripted = model.info.provider == kScripted;
  if (!is_scripted && in.optional_any("script")) {
    in.fail("script", cat("only a model of the provider ", kScripted, " has a script"));
    ERRAND_CHECK(in.finish());
  }
  const Vendor* vendor = find_vendor(model.info.provider);
  ERRAND_CHECK(check_known(value, pointer, vendor != nullptr));
  if (vendor) {
    ERRAND_TRY(model.vendor, parse_vendor(in, *vendor, environment));
  }
  model.info.vendor_model_id = in.optional_text("vendorModelId").value_or(model.info.id);
  model.label = in.optional_text("label").value_or(model.info.id);
  model.context_window_tokens = in.optional_integer("contextWindowTokens", 1, INT64_MAX);
  model.pricing = parse_pricing(in);
  model.starts_early = in.optional_flag("earlyStart").value_or(true);
  ERRAND_TRY(model.fallback, parse_fallback(in));
  std::string script = is_scripted ? in.text("script") : "";
  ERRAND_CHECK(in.finish());
  if (is_scripted) {
    ERRAND_TRY(model.script, read_script(folder / script));
  }
  return model;
}

// Whether the fallbacks of `from`, or their fallbacks, lead to `to`.
bool leads_to(const std::vector<ModelConfig>& models, const std::string& from,
              const std::string& to) {
  std::vector<std::string> chain = fallback_chain(models, from);
  return std::find(chain.begin(), chain.end(), to) != chain.end();
}

Result<void> check_fallbacks(const std::vector<ModelConfig>& models) {
  for (std::size_t i = 0; i < models.size(); ++i) {
    const ModelConfig& model = models[i];
    for (std::size_t k = 0; k < model.fallback.size(); ++k) {
      std::string pointer = cat("/models/", i, "/fallback/", k);
      const std::string& id = model.fallback[k];
      if (!find_model(models, id)) return wrong_model(no_such_model(models, id), pointer);
      if (leads_to(models, id, model.info.id)) {
        return wrong_model(cat("\"", id, "\" falls back to \"", model.info.id,
                               "\" in the end: fallback models must not form a cycle"),
                           pointer);
      }
    }
  }
  return {};
}

Result<void> check_ids(const std::vector<ModelConfig>& models) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (seen.insert(models[i].info.id).second) continue;
    return wrong_model(cat("another model has the id \"", models[i].info.id, "\" too"),
                       cat("/models/", i, "/id"));
  }
  return {};
}

void add_chain(const std::vector<ModelConfig>& models, const std::string& id,
               std::vector<std::string>& chain) {
  if (std::find(chain.begin(), chain.end(), id) != chain.end()) return;
  const ModelConfig* model = find_model(models, id);
  if (!model) return;
  chain.push_back(id);
  for (const std::string& next : model->fallback) add_chain(models, next, chain);
}

}  // namespace

const ModelConfig* find_model(const std::vector<ModelConfig>& models, std::string_view id) {
  auto found = std::find_if(models.begin(), models.end(),
                            [&](const ModelConfig& model) { return model.info.id == id; });
  return found == models.end() ? nullptr : &*found;
}

std::string no_such_model(const std::vector<ModelConfig>& models, const std::string& id) {
  std::vector<std::string> ids;
  for (const ModelConfig& model : models) ids.push_back(model.info.id);
  return cat("no model has the id \"", id, "\"; ", meant_or_listed(id, ids));
}

std::vector<std::string> provider_names() {
  std::vector<std::string> names;
  for (const Vendor& vendor : vendors()) names.emplace_back(vendor.name);
  names.emplace_back(kDemo);
  names.emplace_back(kScripted);
  return names;
}

std::vector<std::string> fallback_chain(const std::vector<ModelConfig>& models,
                                        const std::string& id) {
  std::vector<std::string> chain;
  add_chain(models, id, chain);
  return chain;
}

Result<std::vector<ModelConfig>> parse_models(const json::Array& models, const fs::path& folder,
                                              const net::Environment& environment) {
  if (models.size() > kModelsMax) {
    return wrong_model(cat("there are at most ", kModelsMax, " models"), "/models");
  }
  std::vector<ModelConfig> out;
  for (std::size_t i = 0; i < models.size(); ++i) {
    ERRAND_TRY(auto model, parse_model(models[i], cat("/models/", i), folder, environment));
    out.push_back(std::move(model));
  }
  ERRAND_CHECK(check_ids(out));
  ERRAND_CHECK(check_fallbacks(out));
  return out;
}

Result<llm::Script> read_script(const fs::path& path) {
  ERRAND_TRY(auto text, read_text_file(path));
  auto turns = llm::parse_script(text);
  if (!turns) return json::in_file(path.string(), text, turns.error());
  return turns;
}

}  // namespace errand::host
