#include "cli/config.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"
#include "llm/demo/demo_model.hpp"

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

Result<llm::Script> read_script(const fs::path& path) {
  ERRAND_TRY(auto text, read_file(path));
  auto turns = llm::parse_script(text);
  if (!turns) {
    return Error(ErrorCode::invalid_argument, cat(path.string(), ": ", turns.error().describe()));
  }
  return turns;
}

Result<ModelConfig> parse_model(const json::Value& value, std::string_view pointer,
                                const fs::path& folder) {
  ERRAND_CHECK(refuse_unknown(
      value, pointer, {"id", "provider", "script", "label", "contextWindowTokens", "pricing"}));
  Fields in(value, pointer);
  ModelConfig model;
  model.info.id = in.text("id");
  model.info.provider = in.text("provider");
  model.info.vendor_model_id = model.info.id;
  bool is_scripted = model.info.provider == kScripted;
  if (in.ok() && !is_scripted && model.info.provider != kDemo) {
    in.fail("provider",
            cat("\"", model.info.provider,
                "\" is not a provider of this version; there are: ", kDemo, ", ", kScripted));
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
  ERRAND_CHECK(refuse_unknown(value, "", {"models", "defaultModel", "workspaces", "limits"}));
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

engine::Catalog make_catalog(Config& config, Timers& timers, Executor home) {
  std::vector<engine::CatalogModel> models;
  for (ModelConfig& model : config.models) {
    std::unique_ptr<llm::Model> made;
    if (model.info.provider == kScripted) {
      made = std::make_unique<llm::ScriptedModel>(std::move(model.script), timers, home);
    } else {
      made = std::make_unique<llm::DemoModel>(timers, home);
    }
    models.push_back({.info = std::move(model.info),
                      .label = std::move(model.label),
                      .context_window_tokens = model.context_window_tokens,
                      .pricing = model.pricing,
                      .model = std::move(made)});
  }
  return {std::move(models), config.default_model};
}

}  // namespace errand::cli
