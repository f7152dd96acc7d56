#include "host/config.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "host/discovery.hpp"
#include "host/mcp_config.hpp"
#include "host/settings.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"
#include "json/place.hpp"
#include "net/url.hpp"
#include "room/access/token.hpp"

namespace errand::host {
namespace {

namespace fs = std::filesystem;
using json::Fields;

constexpr std::int64_t kDayMillis = 86'400'000;
constexpr std::int64_t kCenturyMillis = 36'525 * kDayMillis;  // a longer time is a mistake

Result<WorkspaceConfig> parse_workspace(const json::Value& value, std::string_view pointer,
                                        const net::Environment& environment) {
  ERRAND_CHECK(refuse_unknown(value, pointer, Section::workspace));
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
      ERRAND_TRY(auto key,
                 resolve_secret(std::string(json::view(*text)), key_pointer, environment));
      workspace.api_keys.push_back(std::move(key));
    }
  }
  workspace.rooms_on_join = in.optional_flag("roomsOnJoin").value_or(true);
  if (const json::Array* rooms = in.optional_array("rooms")) {
    for (std::size_t i = 0; i < rooms->size(); ++i) {
      const auto* text = (*rooms)[i].if_string();
      if (!text || !room::is_room_name(json::view(*text))) {
        return Error(ErrorCode::invalid_argument,
                     "a room's name is 1 to 63 of a-z, 0-9 and hyphens inside")
            .pointer(json::child_pointer(in.pointer_to("rooms"), i));
      }
      workspace.rooms.emplace_back(json::view(*text));
    }
  }
  return in.finish(std::move(workspace));
}

Result<void> parse_limits(const json::Value& value, Config& config) {
  ERRAND_CHECK(refuse_unknown(value, "/limits", Section::limits));
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
  if (auto bytes = in.optional_integer("conversationBytes", 1024, INT64_MAX)) {
    config.limits.conversation_bytes_max = static_cast<std::size_t>(*bytes);
  }
  if (auto bytes = in.optional_integer("bodyBytes", 1024, INT32_MAX)) {
    config.body_bytes_max = static_cast<std::size_t>(*bytes);
  }
  if (auto count = in.optional_integer("connections", 1, 1'000'000)) {
    config.connections_max = static_cast<std::size_t>(*count);
  }
  if (auto count = in.optional_integer("modelConnections", 1, 1'000'000)) {
    config.limits.turns.turns = static_cast<std::size_t>(*count);
  }
  if (auto count = in.optional_integer("requestsPerMinute", 1, 10'000'000)) {
    config.requests_per_minute = static_cast<std::uint32_t>(*count);
  }
  if (auto count = in.optional_integer("runsInFlight", 1, 1'000'000)) {
    config.limits.slots.per_workspace = static_cast<std::size_t>(*count);
  }
  if (auto count = in.optional_integer("runsInFlightTotal", 1, 1'000'000)) {
    config.limits.slots.in_all = static_cast<std::size_t>(*count);
  }
  return in.finish();
}

Result<void> parse_compatibility(const json::Value& value, Config& config) {
  ERRAND_CHECK(refuse_unknown(value, "/compatibility", Section::compatibility));
  Fields in(value, "/compatibility");
  if (auto policy = in.optional_choice("missingResult", {"refuse", "empty"})) {
    config.missing_result = *policy == 0 ? MissingResult::refuse : MissingResult::empty;
  }
  return in.finish();
}

Result<net::AddressPrefix> parse_network(const json::Value& value, std::string_view pointer) {
  const auto* text = value.if_string();
  if (!text) return Error(ErrorCode::invalid_argument, "expected a string").pointer(pointer);
  auto network = net::AddressPrefix::parse(json::view(*text));
  if (network) return network;
  return Error(network.error().code(),
               cat(network.error().message(), "; one is such as 10.0.0.0/8 or ::1"))
      .pointer(pointer);
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

Result<void> parse_networks(const json::Value& value, Config& config) {
  ERRAND_CHECK(refuse_unknown(value, "/network", Section::network));
  Fields in(value, "/network");
  ERRAND_TRY(config.networks, parse_list<net::AddressPrefix>(in, "allow", parse_network));
  if (auto names = in.optional_choice("proxyNames", {"judged", "trusted"})) {
    config.proxy_names =
        *names == 0 ? net::ProxyNames::judged_here : net::ProxyNames::left_to_proxy;
  }
  return in.finish();
}

Result<void> parse_rooms(const json::Value& value, Config& config) {
  ERRAND_CHECK(refuse_unknown(value, "/rooms", Section::rooms));
  Fields in(value, "/rooms");
  config.compresses_rooms = in.optional_flag("compression").value_or(false);
  return in.finish();
}

Result<void> parse_telemetry(const json::Value& value, Config& config) {
  ERRAND_CHECK(refuse_unknown(value, "/telemetry", Section::telemetry));
  Fields in(value, "/telemetry");
  config.otlp_url = in.optional_text("otlp").value_or("");
  if (!config.otlp_url.empty() && !net::parse_url(config.otlp_url)) {
    in.fail("otlp", "expected the URL of a collector, such as http://127.0.0.1:4318");
  }
  return in.finish();
}

Result<void> parse_search(const json::Value& value, const net::Environment& environment,
                          Config& config) {
  ERRAND_CHECK(refuse_unknown(value, "/search", Section::search));
  Fields in(value, "/search");
  SearchService service;
  auto provider = in.optional_choice("provider", {"exa", "brave", "tavily"});
  if (!provider) in.fail("provider", "\"provider\" is missing: expected exa, brave or tavily");
  service.provider = static_cast<SearchProvider>(provider.value_or(0));
  std::string key = in.text("apiKey");
  service.base_url = in.optional_text("baseUrl").value_or("");
  ERRAND_CHECK(in.finish());
  ERRAND_TRY(service.key, resolve_secret(key, in.pointer_to("apiKey"), environment));
  config.search = std::move(service);
  return {};
}

// The models of a file that names none.
Result<void> use_discovered(Config& config, const net::Environment& environment) {
  ERRAND_TRY(auto discovered, discover_models(environment));
  config.models = std::move(discovered.of_keys);
  config.vendors = std::move(discovered.vendors);
  config.ollama = std::move(discovered.ollama);
  config.ollama_position = config.models.size();
  config.models.push_back(std::move(discovered.demo));
  return {};
}

// Adds the other models of an Ollama that the file names.
void use_configured_ollama(Config& config) {
  for (const ModelConfig& model : config.models) {
    if (config.ollama || model.info.provider != kOllama) continue;
    config.ollama = model.vendor;
    config.ollama_position = config.models.size();
  }
}

Result<Config> parse_config(std::string_view text, const fs::path& folder,
                            const net::Environment& environment) {
  ERRAND_TRY(auto value, json::parse(text, {.comments = json::Comments::allow}));
  ERRAND_CHECK(refuse_unknown(value, "", Section::root));
  Fields in(value, "");
  ERRAND_CHECK(in.finish());
  Config config;
  if (const json::Array* models = in.optional_array("models")) {
    ERRAND_TRY(config.models, parse_models(*models, folder, environment));
  }
  ERRAND_TRY(config.workspaces,
             parse_list<WorkspaceConfig>(in, "workspaces",
                                         [&](const json::Value& item, std::string_view pointer) {
                                           return parse_workspace(item, pointer, environment);
                                         }));
  in.optional_text("$schema");  // ignored; for editors
  config.default_model = in.optional_text("defaultModel").value_or("");
  if (const json::Object* servers = in.optional_object("mcpServers")) {
    ERRAND_TRY(config.mcp_servers, parse_mcp_servers(*servers, environment));
  }
  if (const json::Value* limits = in.optional_any("limits"))
    ERRAND_CHECK(parse_limits(*limits, config));
  if (const json::Value* network = in.optional_any("network"))
    ERRAND_CHECK(parse_networks(*network, config));
  if (const json::Value* rooms = in.optional_any("rooms"))
    ERRAND_CHECK(parse_rooms(*rooms, config));
  if (const json::Value* telemetry = in.optional_any("telemetry"))
    ERRAND_CHECK(parse_telemetry(*telemetry, config));
  config.search = search_service_in(environment);
  if (const json::Value* search = in.optional_any("search"))
    ERRAND_CHECK(parse_search(*search, environment, config));
  if (const json::Value* compatibility = in.optional_any("compatibility"))
    ERRAND_CHECK(parse_compatibility(*compatibility, config));
  if (config.models.empty()) {
    ERRAND_CHECK(use_discovered(config, environment));
  } else {
    use_configured_ollama(config);
  }
  bool has_default =
      std::any_of(config.models.begin(), config.models.end(),
                  [&](const ModelConfig& model) { return model.info.id == config.default_model; });
  if (!config.default_model.empty() && !has_default) {
    in.fail("defaultModel", no_such_model(config.models, config.default_model));
  }
  return in.finish(std::move(config));
}

}  // namespace

Result<Config> default_config(const net::Environment& environment) {
  Config config;
  ERRAND_CHECK(use_discovered(config, environment));
  config.search = search_service_in(environment);
  return config;
}

Result<Config> read_config(const fs::path& file, const net::Environment& environment) {
  ERRAND_TRY(auto text, read_text_file(file));
  auto config = parse_config(text, file.parent_path(), environment);
  if (config) return config;
  Error error = json::in_file(file.string(), text, config.error());
  return Error(ErrorCode::invalid_argument, error.message()).hint(error.hint());
}

}  // namespace errand::host
