#include "cli/config.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "crypto/random.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"
#include "llm/demo/demo_model.hpp"
#include "llm/http/http_model.hpp"
#include "llm/scripted/scripted_model.hpp"
#include "net/url.hpp"

namespace errand::cli {
namespace {

namespace fs = std::filesystem;
using json::Fields;

constexpr std::int64_t kDayMillis = 86'400'000;
constexpr std::int64_t kCenturyMillis = 36'525 * kDayMillis;  // longer is a typo
constexpr std::string_view kDemo = "demo";
constexpr std::string_view kScripted = "scripted";

Result<std::string> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return Error(ErrorCode::invalid_argument, cat("cannot read the file ", path.string()));
  }
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// A setting that nobody reads is a typo or a wish; both are better said than ignored.
Result<void> refuse_unknown(const json::Value& value, std::string_view pointer,
                            std::initializer_list<std::string_view> known) {
  if (!value.is_object()) return {};
  for (const auto& member : value.get_object()) {
    std::string_view key(member.key().data(), member.key().size());
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    std::string listed;
    for (std::string_view one : known) append(listed, listed.empty() ? "" : ", ", one);
    return Error(ErrorCode::invalid_argument,
                 cat("\"", key, "\" is not a setting here; there are: ", listed))
        .pointer(json::child_pointer(pointer, key));
  }
  return {};
}

// "env:NAME", "file:PATH" or the value itself.
Result<std::string> resolve_secret(const std::string& text, std::string_view pointer) {
  if (text.starts_with("env:")) {
    const char* value = std::getenv(text.c_str() + 4);
    if (value && *value) return std::string(value);
    return Error(ErrorCode::invalid_argument,
                 cat("the environment variable ", text.substr(4), " is not set"))
        .pointer(pointer);
  }
  if (text.starts_with("file:")) {
    auto content = read_file(text.substr(5));
    if (!content) return Error(content.error()).pointer(pointer);
    while (!content->empty() && (content->back() == '\n' || content->back() == '\r'))
      content->pop_back();
    return content;
  }
  return text;
}

std::optional<engine::Pricing> parse_pricing(Fields& in) {
  const json::Value* value = in.optional_any("pricing");
  if (!value) return {};
  Fields pricing(*value, in.pointer_to("pricing"));
  engine::Pricing out{.input_per_1m_usd = pricing.optional_number("inputPer1MUsd"),
                      .output_per_1m_usd = pricing.optional_number("outputPer1MUsd"),
                      .cache_read_per_1m_usd = pricing.optional_number("cacheReadPer1MUsd")};
  if (auto done = pricing.finish(); !done) in.fail(std::move(done).error());
  return out;
}

Result<llm::HeaderList> parse_headers(Fields& in) {
  llm::HeaderList headers;
  const json::Object* object = in.optional_object("headers");
  if (!object) return headers;
  for (const auto& member : *object) {
    std::string pointer = json::child_pointer(in.pointer_to("headers"), member.key());
    const auto* text = member.value().if_string();
    if (!text) return Error(ErrorCode::invalid_argument, "expected a string").pointer(pointer);
    ERRAND_TRY(auto value, resolve_secret(std::string(json::view(*text)), pointer));
    headers.emplace_back(to_lower(member.key()), std::move(value));
  }
  return headers;
}

Result<VendorConfig> parse_vendor(Fields& in, const Vendor& vendor) {
  constexpr std::int64_t kRetriesMax = 10;
  VendorConfig config;
  config.base_url = in.optional_text("baseUrl").value_or(std::string(vendor.base_url));
  while (config.base_url.ends_with('/')) config.base_url.pop_back();
  if (config.base_url.empty()) {
    in.fail("baseUrl", cat("a model of the provider ", vendor.name, " needs a baseUrl"));
  } else if (auto url = net::parse_url(config.base_url); !url) {
    in.fail("baseUrl", url.error().message());
  }
  if (auto key = in.optional_text("apiKey")) {
    ERRAND_TRY(config.api_key, resolve_secret(*key, in.pointer_to("apiKey")));
  }
  ERRAND_TRY(config.headers, parse_headers(in));
  if (auto millis = in.optional_integer("timeoutMs", 1, kCenturyMillis)) {
    config.timeout = milliseconds(*millis);
  }
  config.retries = static_cast<int>(in.optional_integer("retries", 0, kRetriesMax).value_or(2));
  config.output_tokens_max = in.optional_integer("maxOutputTokens", 1, INT32_MAX);
  config.api = in.optional_text("api").value_or(std::string(vendor.api));
  bool is_known =
      vendor.api.empty() ? config.api.empty() : config.api == "responses" || config.api == "chat";
  if (!is_known) in.fail("api", "only models of the OpenAI family have one: responses or chat");
  ERRAND_CHECK(in.finish());
  return config;
}

Result<ModelConfig> parse_model(const json::Value& value, std::string_view pointer,
                                const fs::path& folder) {
  ERRAND_CHECK(refuse_unknown(value, pointer,
                              {"id", "provider", "script", "label", "contextWindowTokens",
                               "pricing", "api", "vendorModelId", "baseUrl", "apiKey", "headers",
                               "timeoutMs", "retries", "maxOutputTokens"}));
  Fields in(value, pointer);
  ModelConfig model;
  model.info.id = in.text("id");
  model.info.provider = in.text("provider");
  model.info.vendor_model_id = in.optional_text("vendorModelId").value_or(model.info.id);
  bool is_scripted = model.info.provider == kScripted;
  const Vendor* vendor = find_vendor(model.info.provider);
  if (in.ok() && !is_scripted && !vendor && model.info.provider != kDemo) {
    in.fail("provider", cat("\"", model.info.provider,
                            "\" is not a provider of this version; there are: ", vendor_names(),
                            ", ", kDemo, ", ", kScripted));
  }
  if (vendor) {
    ERRAND_TRY(model.vendor, parse_vendor(in, *vendor));
  }
  model.label = in.optional_text("label").value_or(model.info.id);
  model.context_window_tokens = in.optional_integer("contextWindowTokens", 1, INT64_MAX);
  model.pricing = parse_pricing(in);
  std::string script = is_scripted ? in.text("script") : "";
  if (!is_scripted && in.optional_any("script")) {
    in.fail("script", cat("only a model of the provider ", kScripted, " has a script"));
  }
  ERRAND_CHECK(in.finish());
  if (is_scripted) {
    ERRAND_TRY(model.script, read_script(folder / script));
  }
  return model;
}

Result<WorkspaceConfig> parse_workspace(const json::Value& value, std::string_view pointer) {
  ERRAND_CHECK(refuse_unknown(value, pointer, {"slug", "apiKeys"}));
  Fields in(value, pointer);
  WorkspaceConfig workspace;
  auto slug = WorkspaceSlug::parse(in.text("slug"));
  if (!slug) in.fail("slug", "a slug is 1 to 39 letters, digits, dashes and underscores");
  workspace.slug = slug.value_or(WorkspaceSlug());
  if (const json::Array* keys = in.optional_array("apiKeys")) {
    for (std::size_t i = 0; i < keys->size(); ++i) {
      std::string key_pointer = json::child_pointer(in.pointer_to("apiKeys"), i);
      const auto* text = (*keys)[i].if_string();
      if (!text)
        return Error(ErrorCode::invalid_argument, "expected a string").pointer(key_pointer);
      ERRAND_TRY(auto key, resolve_secret(std::string(json::view(*text)), key_pointer));
      workspace.api_keys.push_back(std::move(key));
    }
  }
  return in.finish(std::move(workspace));
}

Result<void> parse_limits(const json::Value& value, Config& config) {
  ERRAND_CHECK(
      refuse_unknown(value, "/limits",
                     {"localToolTimeoutMs", "maxToolTurns", "runMs", "keepRunsMs", "bodyBytes"}));
  Fields in(value, "/limits");
  if (auto millis = in.optional_integer("localToolTimeoutMs", 1, INT32_MAX)) {
    config.limits.local_tool_timeout = milliseconds(*millis);
  }
  if (auto turns = in.optional_integer("maxToolTurns", 0, 1000)) {
    config.limits.max_tool_turns = static_cast<int>(*turns);
  }
  if (auto millis = in.optional_integer("runMs", 1, kCenturyMillis)) {
    config.limits.run_time = milliseconds(*millis);
  }
  if (auto millis = in.optional_integer("keepRunsMs", kDayMillis, kCenturyMillis)) {
    config.limits.keep_runs = milliseconds(*millis);
  }
  if (auto bytes = in.optional_integer("bodyBytes", 1024, INT32_MAX)) {
    config.body_bytes_max = static_cast<std::size_t>(*bytes);
  }
  return in.finish();
}

Result<void> parse_compatibility(const json::Value& value, Config& config) {
  ERRAND_CHECK(refuse_unknown(value, "/compatibility", {"missingResult"}));
  Fields in(value, "/compatibility");
  if (auto policy = in.optional_choice("missingResult", {"refuse", "empty"})) {
    config.missing_result =
        *policy == 0 ? server::MissingResult::refuse : server::MissingResult::empty;
  }
  return in.finish();
}

template <class Item, class Parse>
Result<std::vector<Item>> parse_list(Fields& in, std::string_view key, Parse parse) {
  std::vector<Item> out;
  const json::Array* items = in.optional_array(key);
  if (!items) return out;
  for (std::size_t i = 0; i < items->size(); ++i) {
    ERRAND_TRY(auto item, parse((*items)[i], json::child_pointer(in.pointer_to(key), i)));
    out.push_back(std::move(item));
  }
  return out;
}

Result<Config> parse_config(std::string_view text, const fs::path& folder) {
  ERRAND_TRY(auto value, json::parse(text, {.comments = json::Comments::allow}));
  ERRAND_CHECK(refuse_unknown(value, "",
                              {"models", "defaultModel", "workspaces", "limits", "compatibility"}));
  Fields in(value, "");
  ERRAND_CHECK(in.finish());
  Config config;
  ERRAND_TRY(config.models, parse_list<ModelConfig>(
                                in, "models", [&](const json::Value& item, std::string pointer) {
                                  return parse_model(item, pointer, folder);
                                }));
  ERRAND_TRY(config.workspaces, parse_list<WorkspaceConfig>(in, "workspaces", parse_workspace));
  config.default_model = in.optional_text("defaultModel").value_or("");
  if (const json::Value* limits = in.optional_any("limits"))
    ERRAND_CHECK(parse_limits(*limits, config));
  if (const json::Value* value = in.optional_any("compatibility"))
    ERRAND_CHECK(parse_compatibility(*value, config));
  if (config.models.empty()) config.models = default_config().models;
  bool has_default =
      std::any_of(config.models.begin(), config.models.end(),
                  [&](const ModelConfig& model) { return model.info.id == config.default_model; });
  if (!config.default_model.empty() && !has_default) {
    in.fail("defaultModel", cat("no model has the id \"", config.default_model, "\""));
  }
  return in.finish(std::move(config));
}

}  // namespace

Config default_config() {
  Config config;
  config.models.push_back(
      {.info = {.id = "demo", .provider = std::string(kDemo), .vendor_model_id = "demo"},
       .label = "Demo"});
  return config;
}

Result<Config> read_config(const fs::path& file) {
  ERRAND_TRY(auto text, read_file(file));
  auto config = parse_config(text, file.parent_path());
  if (!config) {
    return Error(ErrorCode::invalid_argument, cat(file.string(), ": ", config.error().describe()));
  }
  return config;
}

Result<llm::Script> read_script(const fs::path& path) {
  ERRAND_TRY(auto text, read_file(path));
  auto turns = llm::parse_script(text);
  if (!turns) {
    return Error(ErrorCode::invalid_argument, cat(path.string(), ": ", turns.error().describe()));
  }
  return turns;
}

namespace {

std::unique_ptr<llm::Model> make_vendor_model(const ModelConfig& model,
                                              const ModelSurroundings& around) {
  const VendorConfig& config = *model.vendor;
  llm::HttpModelOptions options{.base_url = config.base_url, .retries = config.retries};
  if (config.timeout) options.timeouts.total = *config.timeout;
  return std::make_unique<llm::HttpModel>(
      llm::HttpModel::Deps{.client = around.client,
                           .timers = around.timers,
                           .clock = around.clock,
                           .random = crypto::random_bits,
                           .home = around.home},
      make_provider(*find_vendor(model.info.provider), config, model.info.vendor_model_id),
      std::move(options));
}

std::unique_ptr<llm::Model> make_model(ModelConfig& model, const ModelSurroundings& around) {
  if (model.vendor) return make_vendor_model(model, around);
  if (model.info.provider == kScripted) {
    return std::make_unique<llm::ScriptedModel>(std::move(model.script), around.timers,
                                                around.home);
  }
  return std::make_unique<llm::DemoModel>(around.timers, around.home);
}

}  // namespace

engine::Catalog make_catalog(Config& config, const ModelSurroundings& around) {
  std::vector<engine::CatalogModel> models;
  for (ModelConfig& model : config.models) {
    std::unique_ptr<llm::Model> made = make_model(model, around);
    models.push_back({.info = std::move(model.info),
                      .label = std::move(model.label),
                      .context_window_tokens = model.context_window_tokens,
                      .pricing = model.pricing,
                      .model = std::move(made)});
  }
  return {std::move(models), config.default_model};
}

}  // namespace errand::cli
