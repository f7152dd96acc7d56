#include "host/config_schema.hpp"

#include <string_view>
#include <utility>

#include "base/assert.hpp"
#include "host/model_config.hpp"
#include "json/parse.hpp"

namespace errand::host {
namespace {

// The properties of each section, as JSON Schema. The bounds are those that the parser checks.

constexpr std::string_view kRoot = R"json({
  "models": {
    "type": "array", "maxItems": 1000, "items": { "$ref": "#/$defs/model" },
    "description": "Without any: those of the environment, of an Ollama, and the demo model."
  },
  "defaultModel": {
    "type": "string",
    "description": "The id of the model of runs that name none (default: the first)."
  },
  "workspaces": {
    "type": "array", "items": { "$ref": "#/$defs/workspace" },
    "description": "Workspaces beside \"default\"."
  },
  "mcpServers": {
    "type": "object", "additionalProperties": { "$ref": "#/$defs/mcpServer" },
    "propertyNames": { "pattern": "^[A-Za-z0-9_]{1,64}$" },
    "description": "MCP servers that runs can name, by their names."
  },
  "limits": { "$ref": "#/$defs/limits" },
  "network": { "$ref": "#/$defs/network" },
  "rooms": { "$ref": "#/$defs/rooms" },
  "search": { "$ref": "#/$defs/search" },
  "telemetry": { "$ref": "#/$defs/telemetry" },
  "compatibility": { "$ref": "#/$defs/compatibility" },
  "$schema": { "type": "string", "description": "Where this schema is, for editors. Not read." }
})json";

constexpr std::string_view kModel = R"json({
  "id": {
    "type": "string", "minLength": 1, "description": "What callers pass as modelId; each only once."
  },
  "provider": { "type": "string", "description": "Who has the model." },
  "vendorModelId": {
    "type": "string", "description": "The vendor's name for it (default: the id)."
  },
  "label": { "type": "string", "description": "Display name (default: the id)." },
  "contextWindowTokens": {
    "type": "integer", "minimum": 1, "description": "Shown with the model."
  },
  "pricing": { "$ref": "#/$defs/pricing" },
  "earlyStart": {
    "type": "boolean", "default": true,
    "description": "false: no call starts before its turn has finished."
  },
  "fallback": {
    "type": "array", "maxItems": 10, "items": { "type": "string" },
    "description": "Ids of models that are asked, in order, when this one gives no answer."
  }
})json";

constexpr std::string_view kVendorModel = R"json({
  "api": {
    "type": "string", "enum": ["responses", "chat"],
    "description": "Of the OpenAI family: which of its APIs."
  },
  "apiVersion": {
    "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}(-preview)?$",
    "description": "Of azure-openai: the version of its older API (default: the v1 API)."
  },
  "baseUrl": {
    "type": "string", "pattern": "^https?://",
    "description": "Another address than the vendor's own."
  },
  "apiKey": {
    "type": "string", "minLength": 1, "description": "env:NAME, file:PATH or the key itself."
  },
  "headers": {
    "type": "object", "additionalProperties": { "type": "string", "minLength": 1 },
    "description": "Sent with every request; values as with apiKey."
  },
  "timeoutMs": {
    "type": "integer", "minimum": 1, "maximum": 3155760000000,
    "description": "Of a question with all its retries and pauses (default: 15 minutes)."
  },
  "retries": {
    "type": "integer", "minimum": 0, "maximum": 10, "default": 2,
    "description": "How often a question without an answer is asked again."
  },
  "maxOutputTokens": {
    "type": "integer", "minimum": 1, "maximum": 2147483647,
    "description": "What a turn may say at most."
  },
  "images": {
    "type": "boolean", "default": true,
    "description": "false: the model does not see; images are told in words."
  }
})json";

constexpr std::string_view kOtherModel = R"json({
  "script": { "type": "string", "description": "Of a scripted model: its file, beside this one." }
})json";

constexpr std::string_view kPricing = R"json({
  "inputPer1MUsd": { "type": "number", "minimum": 0 },
  "outputPer1MUsd": { "type": "number", "minimum": 0 },
  "cacheReadPer1MUsd": { "type": "number", "minimum": 0 }
})json";

constexpr std::string_view kWorkspace = R"json({
  "slug": {
    "type": "string", "minLength": 1, "maxLength": 39, "pattern": "^[A-Za-z0-9_-]+$",
    "description": "Name in URLs."
  },
  "apiKeys": {
    "type": "array", "items": { "type": "string", "minLength": 1 },
    "description": "Keys of the workspace: env:NAME, file:PATH or the key itself."
  },
  "rooms": {
    "type": "array",
    "items": { "type": "string", "pattern": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$" },
    "description": "Rooms to make when the server starts."
  },
  "roomsOnJoin": {
    "type": "boolean", "default": true,
    "description": "Whether the first participant who joins a room makes it."
  }
})json";

constexpr std::string_view kMcpServer = R"json({
  "url": {
    "type": "string", "pattern": "^https?://", "description": "Where the server is, over HTTP."
  },
  "headers": {
    "type": "object", "additionalProperties": { "type": "string", "minLength": 1 },
    "description": "Sent with every request; env:NAME, file:PATH or the value itself."
  },
  "command": {
    "type": "string", "minLength": 1,
    "description": "Instead of a URL: a program, which is spoken to over its standard streams."
  },
  "args": {
    "type": "array", "items": { "type": "string" }, "description": "Arguments of the program."
  },
  "env": {
    "type": "object", "additionalProperties": { "type": "string", "minLength": 1 },
    "description": "Variables of the program; env:NAME, file:PATH or the value itself."
  },
  "roots": {
    "type": "array", "items": { "type": "string", "pattern": "^/" },
    "description": "Folders that the server is told to work in, if it asks."
  }
})json";

constexpr std::string_view kLimits = R"json({
  "localToolTimeoutMs": {
    "type": "integer", "minimum": 1, "maximum": 2147483647, "default": 300000,
    "description": "How long a call waits for its client."
  },
  "maxToolTurns": {
    "type": "integer", "minimum": 0, "maximum": 1000, "default": 32,
    "description": "In how many turns the model may call tools."
  },
  "runMs": {
    "type": "integer", "minimum": 1, "maximum": 3155760000000, "default": 86400000,
    "description": "How long a run may take in all."
  },
  "keepRunsMs": {
    "type": "integer", "minimum": 86400000, "maximum": 3155760000000,
    "description": "When runs that have ended are removed (default: never)."
  },
  "conversationBytes": {
    "type": "integer", "minimum": 1024, "maximum": 9223372036854775807, "default": 67108864,
    "description": "How long the conversation of a run or session may become."
  },
  "bodyBytes": {
    "type": "integer", "minimum": 1024, "maximum": 2147483647, "default": 33554432,
    "description": "The longest body of a request."
  },
  "connections": {
    "type": "integer", "minimum": 1, "maximum": 1000000,
    "description": "How many connections of clients are open (default: by file descriptors)."
  },
  "modelConnections": {
    "type": "integer", "minimum": 1, "maximum": 1000000,
    "description": "How many turns with models go on at once (default: by file descriptors)."
  },
  "requestsPerMinute": {
    "type": ["integer", "null"], "minimum": 1, "maximum": 10000000,
    "description": "How many requests a key may make in any minute (default: no limit)."
  },
  "runsInFlight": {
    "type": ["integer", "null"], "minimum": 1, "maximum": 1000000,
    "description": "Runs of a workspace at work at once (default: 7/8 of runsInFlightTotal)."
  },
  "runsInFlightTotal": {
    "type": ["integer", "null"], "minimum": 1, "maximum": 1000000,
    "description": "The same for all workspaces together (default: as modelConnections)."
  }
})json";

constexpr std::string_view kNetwork = R"json({
  "allow": {
    "type": "array", "items": { "type": "string", "minLength": 1 },
    "description": "Networks such as 10.0.0.0/8 that tools may reach besides public addresses."
  },
  "proxyNames": {
    "type": "string", "enum": ["judged", "trusted"], "default": "judged",
    "description": "Whether a proxy is asked for addresses that were judged, or for names."
  }
})json";

constexpr std::string_view kRooms = R"json({
  "compression": {
    "type": "boolean", "default": false,
    "description": "Whether messages are compressed for clients that offer it."
  }
})json";

constexpr std::string_view kSearch = R"json({
  "provider": {
    "type": "string", "enum": ["exa", "brave", "tavily"], "description": "Who searches the web."
  },
  "apiKey": {
    "type": "string", "minLength": 1, "description": "env:NAME, file:PATH or the key itself."
  },
  "baseUrl": {
    "type": "string", "minLength": 1,
    "description": "Another address of the service (default: its own)."
  }
})json";

constexpr std::string_view kTelemetry = R"json({
  "otlp": {
    "type": "string", "pattern": "^https?://",
    "description": "The collector that takes spans, as OTLP over HTTP."
  }
})json";

constexpr std::string_view kCompatibility = R"json({
  "missingResult": {
    "type": "string", "enum": ["refuse", "empty"], "default": "refuse",
    "description": "What a tool result with neither result nor error is."
  }
})json";

json::Object properties(std::string_view text) {
  auto value = json::parse(text);
  ERRAND_ASSERT(value);
  return std::move(value->as_object());
}

json::Object merged(json::Object first, const json::Object& second) {
  for (const auto& member : second) first[member.key()] = member.value();
  return first;
}

json::Object properties_of(Section section) {
  switch (section) {
    case Section::root: return properties(kRoot);
    case Section::vendor_model: return merged(properties(kModel), properties(kVendorModel));
    case Section::other_model: return merged(properties(kModel), properties(kOtherModel));
    case Section::pricing: return properties(kPricing);
    case Section::workspace: return properties(kWorkspace);
    case Section::mcp_server: return properties(kMcpServer);
    case Section::limits: return properties(kLimits);
    case Section::network: return properties(kNetwork);
    case Section::rooms: return properties(kRooms);
    case Section::search: return properties(kSearch);
    case Section::telemetry: return properties(kTelemetry);
    case Section::compatibility: return properties(kCompatibility);
  }
  return {};
}

json::Object object_schema(json::Object members, json::Array required, std::string_view about) {
  json::Object out{{"type", "object"},
                   {"description", about},
                   {"properties", std::move(members)},
                   {"additionalProperties", false}};
  if (!required.empty()) out["required"] = std::move(required);
  return out;
}

// A schema that refuses each of the settings.
json::Object without(const json::Object& settings) {
  json::Object none;
  for (const auto& member : settings) none[member.key()] = false;
  return {{"properties", std::move(none)}};
}

json::Object if_provider(json::Array names, json::Object then) {
  return {{"if", {{"properties", {{"provider", {{"enum", std::move(names)}}}}}}},
          {"then", std::move(then)}};
}

// Refuses settings that only models of other providers have.
json::Array provider_rules() {
  json::Array all;
  json::Array without_api;
  json::Array without_version;
  json::Array without_url;
  for (const Vendor& vendor : vendors()) {
    all.emplace_back(vendor.name);
    if (vendor.api.empty()) without_api.emplace_back(vendor.name);
    if (vendor.name != kAzure) without_version.emplace_back(vendor.name);
    if (vendor.base_url.empty()) without_url.emplace_back(vendor.name);
  }
  return {if_provider(std::move(all), without(properties(kOtherModel))),
          if_provider({kDemo, kScripted}, without(properties(kVendorModel))),
          if_provider({kDemo}, without(properties(kOtherModel))),
          if_provider({kScripted}, {{"required", {"script"}}}),
          if_provider(std::move(without_api), without({{"api", true}})),
          if_provider(std::move(without_version), without({{"apiVersion", true}})),
          if_provider(std::move(without_url), {{"required", {"baseUrl"}}})};
}

json::Object model_schema() {
  json::Object members =
      merged(properties_of(Section::vendor_model), properties_of(Section::other_model));
  json::Array names;
  for (const std::string& name : provider_names()) names.emplace_back(name);
  members["provider"].as_object()["enum"] = std::move(names);
  json::Object out = object_schema(std::move(members), {"id", "provider"}, "A model.");
  out["allOf"] = provider_rules();
  return out;
}

// A server has either a URL or a program.
json::Object mcp_server_schema() {
  json::Object out = object_schema(properties_of(Section::mcp_server), {}, "An MCP server.");
  json::Object program = without({{"url", true}, {"headers", true}});
  program["required"] = json::Array{"command"};
  json::Object remote = without({{"command", true}, {"args", true}, {"env", true}});
  remote["required"] = json::Array{"url"};
  out["oneOf"] = json::Array{std::move(program), std::move(remote)};
  return out;
}

}  // namespace

std::vector<std::string> settings_of(Section section) {
  std::vector<std::string> out;
  for (const auto& member : properties_of(section)) out.emplace_back(member.key());
  return out;
}

json::Value config_schema() {
  json::Object schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                      {"title", "The configuration file of errand serve and errand run"}};
  schema = merged(std::move(schema),
                  object_schema(properties_of(Section::root), {}, "JSON with comments."));
  schema["$defs"] = {
      {"model", model_schema()},
      {"pricing", object_schema(properties_of(Section::pricing), {},
                                "US dollars per million tokens, shown with the model.")},
      {"workspace",
       object_schema(properties_of(Section::workspace), {"slug"}, "A workspace with its keys.")},
      {"mcpServer", mcp_server_schema()},
      {"limits", object_schema(properties_of(Section::limits), {}, "What runs may take.")},
      {"network", object_schema(properties_of(Section::network), {}, "What tools may reach.")},
      {"rooms", object_schema(properties_of(Section::rooms), {}, "How rooms are served.")},
      {"search", object_schema(properties_of(Section::search), {"provider", "apiKey"},
                               "The service behind the tool web_search.")},
      {"telemetry", object_schema(properties_of(Section::telemetry), {}, "Where spans go.")},
      {"compatibility", object_schema(properties_of(Section::compatibility), {},
                                      "For clients that do not keep to the protocol.")}};
  return schema;
}

}  // namespace errand::host
