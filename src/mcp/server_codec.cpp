#include "mcp/server_codec.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/members.hpp"

namespace errand::mcp {
namespace {

constexpr std::array<std::string_view, 8> kLevels = {"debug", "info",     "notice", "warning",
                                                     "error", "critical", "alert",  "emergency"};

constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kLogLevelKey = "io.modelcontextprotocol/logLevel";
constexpr std::string_view kServerKey = "io.modelcontextprotocol/serverInfo";

void put(json::Object& out, std::string_view key, const std::string& text) {
  if (!text.empty()) out[key] = text;
}

Error missing(std::string_view what, std::string_view pointer) {
  return Error(ErrorCode::invalid_argument, cat("expected ", what)).pointer(pointer);
}

const json::Object* meta_of(const json::Object& params) {
  return json::object_at(&params, "_meta");
}

}  // namespace

json::Object to_json(const Implementation& one) {
  json::Object out;
  out.reserve(3 + one.more.size());
  out["name"] = one.name;
  out["version"] = one.version;
  put(out, "title", one.title);
  for (const auto& member : one.more) out[member.key()] = member.value();
  return out;
}

json::Object to_json(const Prompt& prompt) {
  json::Object out{{"name", prompt.name}};
  put(out, "title", prompt.title);
  put(out, "description", prompt.description);
  json::Array arguments;
  for (const PromptArgument& one : prompt.arguments) {
    json::Object argument{{"name", one.name}};
    put(argument, "description", one.description);
    if (one.is_required) argument["required"] = true;
    arguments.push_back(std::move(argument));
  }
  if (!arguments.empty()) out["arguments"] = std::move(arguments);
  return out;
}

json::Object to_json(const GetPromptResult& result) {
  json::Array messages;
  for (const PromptMessage& one : result.messages) {
    messages.push_back(json::Object{{"role", one.role}, {"content", to_json(one.content)}});
  }
  json::Object out;
  put(out, "description", result.description);
  out["messages"] = std::move(messages);
  return out;
}

json::Object to_json(const Resource& resource) {
  json::Object out{{"uri", resource.uri}, {"name", resource.name}};
  put(out, "title", resource.title);
  put(out, "description", resource.description);
  put(out, "mimeType", resource.mime_type);
  return out;
}

json::Object to_json(const ResourceTemplate& resource) {
  json::Object out{{"uriTemplate", resource.uri_template}, {"name", resource.name}};
  put(out, "title", resource.title);
  put(out, "description", resource.description);
  put(out, "mimeType", resource.mime_type);
  return out;
}

json::Object to_json(const Completion& completion) {
  json::Array values;
  std::size_t count = std::min(completion.values.size(), Completion::kValuesMax);
  for (std::size_t i = 0; i < count; ++i) values.emplace_back(completion.values[i]);
  json::Object about{{"values", std::move(values)},
                     {"total", completion.values.size()},
                     {"hasMore", count < completion.values.size()}};
  return {{"completion", std::move(about)}};
}

json::Object to_json(const InputRequired& wanted) {
  json::Object out{{"resultType", "input_required"}};
  json::Object requests;
  for (const auto& [key, request] : wanted.requests) {
    requests[key] = json::Object{{"method", request.method}, {"params", request.params}};
  }
  if (!requests.empty()) out["inputRequests"] = std::move(requests);
  if (wanted.state) out["requestState"] = *wanted.state;
  return out;
}

json::Object capabilities_of(const ServerOffer& offer, Era era) {
  json::Object out;
  if (offer.tools) out["tools"] = json::Object{{"listChanged", true}};
  if (offer.prompts) out["prompts"] = json::Object{{"listChanged", true}};
  if (offer.resources) {
    json::Object about;
    if (offer.resource_changes) about = {{"subscribe", true}, {"listChanged", true}};
    out["resources"] = std::move(about);
  }
  if (offer.completions) out["completions"] = json::Object();
  if (offer.logging && era == Era::legacy) out["logging"] = json::Object();
  return out;
}

json::Object contents_of(const std::vector<EmbeddedResource>& resources) {
  json::Array contents;
  for (const EmbeddedResource& one : resources) {
    contents.push_back(to_json(Content(one)).at("resource"));
  }
  return {{"contents", std::move(contents)}};
}

ClientCapabilities parse_client_capabilities(const json::Object* from) {
  return {.roots = json::object_at(from, "roots") != nullptr,
          .sampling = json::object_at(from, "sampling") != nullptr,
          .elicitation = json::object_at(from, "elicitation") != nullptr};
}

std::string_view to_text(LogLevel level) {
  return kLevels[static_cast<std::size_t>(level)];
}

std::optional<LogLevel> parse_log_level(std::string_view text) {
  auto found = std::find(kLevels.begin(), kLevels.end(), text);
  if (found == kLevels.end()) return {};
  return static_cast<LogLevel>(found - kLevels.begin());
}

Result<GetPromptParams> parse_get_prompt(const json::Object& params) {
  GetPromptParams out{.name = std::string(json::text_at(&params, "name"))};
  if (out.name.empty()) return missing("the name of a prompt", "/name");
  if (const json::Object* arguments = json::object_at(&params, "arguments")) {
    for (const auto& [name, value] : *arguments) {
      if (!value.is_string()) return missing("a string", json::child_pointer("/arguments", name));
      out.arguments.emplace(name, json::view(value.as_string()));
    }
  }
  if (const json::Object* given = json::object_at(&params, "inputResponses")) {
    out.input_responses = *given;
  }
  if (params.contains("requestState")) {
    out.request_state = std::string(json::text_at(&params, "requestState"));
  }
  return out;
}

Result<CompleteParams> parse_complete(const json::Object& params) {
  const json::Object* ref = json::object_at(&params, "ref");
  const json::Object* argument = json::object_at(&params, "argument");
  std::string_view type = json::text_at(ref, "type");
  bool is_prompt = type == "ref/prompt";
  if (!is_prompt && type != "ref/resource")
    return missing("ref/prompt or ref/resource", "/ref/type");
  if (!argument) return missing("an object", "/argument");
  return CompleteParams{
      .kind = is_prompt ? CompleteParams::Kind::prompt : CompleteParams::Kind::resource,
      .name = std::string(json::text_at(ref, is_prompt ? "name" : "uri")),
      .argument = std::string(json::text_at(argument, "name")),
      .value = std::string(json::text_at(argument, "value"))};
}

Result<std::string> parse_uri(const json::Object& params) {
  std::string_view uri = json::text_at(&params, "uri");
  if (uri.empty()) return missing("the URI of a resource", "/uri");
  return std::string(uri);
}

std::optional<std::string> modern_version_of(const json::Object& params) {
  const json::Object* meta = meta_of(params);
  const json::Value* version = meta ? meta->if_contains(kVersionKey) : nullptr;
  if (!version) return {};
  return version->is_string() ? std::string(json::view(version->as_string())) : "";
}

Result<RequestMeta> parse_request_meta(const json::Object& params) {
  const json::Object* meta = meta_of(params);
  const json::Object* client = json::object_at(meta, kCapabilitiesKey);
  if (!client) {
    return missing("the client's capabilities", json::child_pointer("/_meta", kCapabilitiesKey));
  }
  return RequestMeta{.client = parse_client_capabilities(client),
                     .log_level = parse_log_level(json::text_at(meta, kLogLevelKey))};
}

void complete_result(json::Object& result, const Implementation& server) {
  constexpr std::size_t kMembers = 2;
  result.reserve(result.size() + kMembers);  // an object that grows is built anew
  result.emplace("resultType", "complete");
  json::Value& meta = result.emplace("_meta", json::Object()).first->value();
  meta.as_object()[kServerKey] = to_json(server);
}

void make_cacheable(json::Object& result) {
  result["ttlMs"] = 0;
  result["cacheScope"] = "private";
}

std::string subscription_key() {
  return cat(kMetaPrefix, "subscriptionId");
}

std::vector<std::string> supported_versions() {
  return {std::string(kModernVersion), "2025-11-25", "2025-06-18", "2025-03-26"};
}

namespace {

rpc::RpcError missing_capability(const Error& error) {
  json::Object required;
  for (const std::string& name : error.candidates()) required[name] = json::Object();
  json::Object data{{"requiredCapabilities", std::move(required)}};
  return {.code = code::kMissingCapability,
          .message = error.message(),
          .data = json::Value(std::move(data))};
}

}  // namespace

rpc::RpcError to_rpc_error(const Error& error) {
  std::int64_t code = rpc::code::kInternalError;
  if (error.code() == ErrorCode::invalid_argument || error.code() == ErrorCode::not_found) {
    code = rpc::code::kInvalidParams;
  }
  if (error.reason() == "missing_capability") return missing_capability(error);
  if (error.code() == ErrorCode::unsupported) code = rpc::code::kMethodNotFound;
  rpc::RpcError told{.code = code, .message = error.describe()};
  if (error.reason() == "too_complex") told.data = limit_data(error);
  return told;
}

json::Object limit_data(const Error& error) {
  return {{"code", error.reason()}, {"limit", error.limit()}, {"max", error.max()}};
}

}  // namespace errand::mcp
