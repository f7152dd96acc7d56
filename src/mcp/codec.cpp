#include "mcp/codec.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/members.hpp"
#include "mcp/header_parameters.hpp"
#include "mcp/server_codec.hpp"

namespace errand::mcp {
namespace {

constexpr std::size_t kShownNameBytesMax = 128;

std::optional<bool> hint(const json::Object* from, std::string_view key) {
  const json::Value* value = from ? from->if_contains(key) : nullptr;
  if (!value || !value->is_bool()) return {};
  return value->as_bool();
}

std::string text(const json::Object* from, std::string_view key) {
  return std::string(json::text_at(from, key));
}

// The members that the struct does not have.
json::Object members_beside(const json::Object& from,
                            std::initializer_list<std::string_view> known) {
  json::Object more;
  for (const auto& member : from) {
    const std::string_view key(member.key().data(), member.key().size());
    if (std::ranges::find(known, key) == known.end()) more[key] = member.value();
  }
  return more;
}

Implementation parse_implementation(const json::Object* from) {
  if (!from) return {};
  return {.name = text(from, "name"),
          .version = text(from, "version"),
          .title = text(from, "title"),
          .more = members_beside(*from, {"name", "version", "title"})};
}

json::Object hints_of(const ToolAnnotations& from) {
  json::Object hints;
  if (from.read_only) hints["readOnlyHint"] = *from.read_only;
  if (from.destructive) hints["destructiveHint"] = *from.destructive;
  if (from.idempotent) hints["idempotentHint"] = *from.idempotent;
  if (from.open_world) hints["openWorldHint"] = *from.open_world;
  return hints;
}

void take_capabilities(const json::Object* from, ServerInfo& info) {
  const json::Object* tools = json::object_at(from, "tools");
  info.has_tools = tools != nullptr;
  info.announces_tool_changes = json::flag_at(tools, "listChanged");
}

Result<Tool> parse_tool(const json::Value& value) {
  const json::Object* from = value.if_object();
  Tool tool{.name = text(from, "name"),
            .title = text(from, "title"),
            .description = text(from, "description")};
  if (tool.name.empty()) return Error(ErrorCode::invalid_argument, "a tool has no name");
  auto refuse = [&](std::string_view why) {
    return Error(ErrorCode::invalid_argument,
                 cat("tool ", utf8_prefix(tool.name, kShownNameBytesMax), ": ", why));
  };
  const json::Object* input = json::object_at(from, "inputSchema");
  if (!input) return refuse("its input schema is not an object");
  tool.input_schema = *input;
  if (const json::Object* output = json::object_at(from, "outputSchema")) {
    tool.output_schema = *output;
  }
  const json::Object* hints = json::object_at(from, "annotations");
  tool.annotations = {.read_only = hint(hints, "readOnlyHint"),
                      .destructive = hint(hints, "destructiveHint"),
                      .idempotent = hint(hints, "idempotentHint"),
                      .open_world = hint(hints, "openWorldHint")};
  tool.more = members_beside(
      *from, {"name", "title", "description", "inputSchema", "outputSchema", "annotations"});
  if (hints && *hints != hints_of(tool.annotations)) tool.more["annotations"] = *hints;
  if (tool.title.empty()) tool.title = text(hints, "title");
  auto headers = find_header_parameters(tool.input_schema);
  if (!headers) return refuse(headers.error().message());
  tool.header_parameters = std::move(*headers);
  return tool;
}

std::optional<Content> parse_resource(const json::Object* resource) {
  std::string uri = text(resource, "uri");
  if (uri.empty()) return {};
  EmbeddedResource out{.uri = std::move(uri), .mime_type = text(resource, "mimeType")};
  if (resource->contains("blob")) {
    out.body = BlobBody{text(resource, "blob")};
  } else {
    out.body = TextBody{text(resource, "text")};
  }
  return out;
}

Result<CallToolResult> parse_call_result(const json::Object& from) {
  CallToolResult out{.is_error = json::flag_at(&from, "isError")};
  if (const json::Value* structured = from.if_contains("structuredContent")) {
    out.structured_content = *structured;
  }
  const json::Array* content = json::array_at(&from, "content");
  if (!content && !out.structured_content) {
    return Error(ErrorCode::unsupported, "the tool's result has no content").reason("bad_response");
  }
  if (content) {
    for (const json::Value& one : *content) out.content.push_back(parse_content(one));
  }
  return out;
}

InputRequired parse_input_required(const json::Object& from) {
  InputRequired out;
  if (const json::Object* requests = json::object_at(&from, "inputRequests")) {
    for (const auto& [key, value] : *requests) {
      const json::Object* request = value.if_object();
      InputRequest one{.method = text(request, "method"), .params = {}};
      if (const json::Object* params = json::object_at(request, "params")) one.params = *params;
      out.requests.emplace(std::string(key), std::move(one));
    }
  }
  const json::Value* state = from.if_contains("requestState");
  if (state && state->is_string()) out.state = std::string(json::view(state->as_string()));
  return out;
}

Error not_an_object(std::string_view what) {
  return Error(ErrorCode::unsupported, cat("the server's ", what, " is not an object"))
      .reason("bad_response");
}

std::vector<Content> parse_contents(const json::Value& value) {
  std::vector<Content> out;
  if (const json::Array* list = value.if_array()) {
    for (const json::Value& one : *list) out.push_back(parse_content(one));
  } else {
    out.push_back(parse_content(value));
  }
  return out;
}

std::string_view to_text(ElicitResult::Action action) {
  switch (action) {
    case ElicitResult::Action::accept: return "accept";
    case ElicitResult::Action::cancel: return "cancel";
    case ElicitResult::Action::decline: break;
  }
  return "decline";
}

struct ContentWriter {
  json::Object operator()(const TextContent& one) const {
    return {{"type", "text"}, {"text", one.text}};
  }
  json::Object operator()(const ImageContent& one) const {
    return {{"type", "image"}, {"data", one.base64}, {"mimeType", one.mime_type}};
  }
  json::Object operator()(const AudioContent& one) const {
    return {{"type", "audio"}, {"data", one.base64}, {"mimeType", one.mime_type}};
  }
  json::Object operator()(const ResourceLink& one) const {
    json::Object out{{"type", "resource_link"}, {"uri", one.uri}, {"name", one.name}};
    if (!one.title.empty()) out["title"] = one.title;
    if (!one.description.empty()) out["description"] = one.description;
    if (!one.mime_type.empty()) out["mimeType"] = one.mime_type;
    return out;
  }
  json::Object operator()(const EmbeddedResource& one) const {
    json::Object resource{{"uri", one.uri}};
    if (!one.mime_type.empty()) resource["mimeType"] = one.mime_type;
    if (const auto* body = std::get_if<TextBody>(&one.body)) resource["text"] = body->text;
    if (const auto* body = std::get_if<BlobBody>(&one.body)) resource["blob"] = body->base64;
    return {{"type", "resource"}, {"resource", std::move(resource)}};
  }
  json::Object operator()(const UnknownContent& one) const {
    return {{"type", "text"}, {"text", cat("[content of the kind ", one.type, "]")}};
  }
};

}  // namespace

bool is_legacy_version(std::string_view version) {
  return version == "2025-11-25" || version == "2025-06-18" || version == "2025-03-26" ||
         version == "2024-11-05";
}

bool is_modern_code(std::int64_t code) {
  return code == code::kHeaderMismatch || code == code::kMissingCapability ||
         code == code::kUnsupportedVersion;
}

json::Object to_json(const ClientCapabilities& capabilities) {
  json::Object out;
  if (capabilities.roots) out["roots"] = json::Object();
  if (capabilities.sampling) out["sampling"] = json::Object();
  if (capabilities.elicitation) {
    out["elicitation"] = json::Object{{"form", json::Object()}, {"url", json::Object()}};
  }
  return out;
}

json::Object initialize_params(const Implementation& client, const ClientCapabilities& offered) {
  return {{"protocolVersion", kLegacyVersion},
          {"capabilities", to_json(offered)},
          {"clientInfo", to_json(client)}};
}

json::Object modern_meta(const Implementation& client, const ClientCapabilities& offered) {
  return {{cat(kMetaPrefix, "protocolVersion"), kModernVersion},
          {cat(kMetaPrefix, "clientCapabilities"), to_json(offered)},
          {cat(kMetaPrefix, "clientInfo"), to_json(client)}};
}

Result<ServerInfo> parse_initialize_result(const json::Value& result) {
  const json::Object* from = result.if_object();
  if (!from) return not_an_object("answer to initialize");
  ServerInfo info{.era = Era::legacy,
                  .protocol_version = text(from, "protocolVersion"),
                  .server = parse_implementation(json::object_at(from, "serverInfo")),
                  .instructions = text(from, "instructions")};
  if (!is_legacy_version(info.protocol_version)) {
    return Error(ErrorCode::unsupported,
                 cat("the server wants version \"", utf8_prefix(info.protocol_version, 40),
                     "\" of MCP, which this program does not speak"))
        .reason("unsupported_version");
  }
  take_capabilities(json::object_at(from, "capabilities"), info);
  return info;
}

Result<ServerInfo> parse_discover_result(const json::Value& result) {
  const json::Object* from = result.if_object();
  const json::Array* versions = json::array_at(from, "supportedVersions");
  bool is_modern = versions && std::any_of(versions->begin(), versions->end(), [](const auto& one) {
                     return one.is_string() && json::view(one.as_string()) == kModernVersion;
                   });
  if (!is_modern) {
    return Error(ErrorCode::unsupported,
                 cat("the server does not speak version ", kModernVersion, " of MCP"))
        .reason("unsupported_version");
  }
  const json::Object* meta = json::object_at(from, "_meta");
  ServerInfo info{
      .era = Era::modern,
      .protocol_version = std::string(kModernVersion),
      .server = parse_implementation(json::object_at(meta, cat(kMetaPrefix, "serverInfo"))),
      .instructions = text(from, "instructions")};
  take_capabilities(json::object_at(from, "capabilities"), info);
  return info;
}

Result<ToolPage> parse_tool_page(const json::Value& result) {
  const json::Object* from = result.if_object();
  const json::Array* tools = json::array_at(from, "tools");
  if (!tools) {
    return Error(ErrorCode::unsupported, "the server's answer to tools/list has no list of tools")
        .reason("bad_response");
  }
  ToolPage page;
  for (const json::Value& one : *tools) {
    auto tool = parse_tool(one);
    if (tool) {
      page.tools.push_back(std::move(*tool));
    } else {
      page.dropped.push_back(tool.error().message());
    }
  }
  if (std::string cursor = text(from, "nextCursor"); !cursor.empty()) {
    page.next_cursor = std::move(cursor);
  }
  page.ttl_millis = std::max<std::int64_t>(0, json::integer_at(from, "ttlMs").value_or(0));
  return page;
}

json::Object to_json(const Tool& tool) {
  json::Object out{{"name", tool.name}};
  // Older servers give the title among the annotations.
  const json::Object* annotations = json::object_at(&tool.more, "annotations");
  const bool is_annotation = json::text_at(annotations, "title") == tool.title;
  if (!tool.title.empty() && !is_annotation) out["title"] = tool.title;
  if (!tool.description.empty()) out["description"] = tool.description;
  out["inputSchema"] = tool.input_schema;
  if (tool.output_schema) out["outputSchema"] = *tool.output_schema;
  json::Object hints = hints_of(tool.annotations);
  if (!hints.empty()) out["annotations"] = std::move(hints);
  for (const auto& member : tool.more) out[member.key()] = member.value();
  return out;
}

Result<CallOutcome> parse_call_outcome(const json::Value& result) {
  const json::Object* from = result.if_object();
  if (!from) return not_an_object("answer to tools/call");
  std::string_view type = json::text_at(from, "resultType");
  if (type == "input_required") return CallOutcome(parse_input_required(*from));
  if (!type.empty() && type != "complete") {
    return Error(ErrorCode::unsupported, cat("the server's result is of the unknown type \"",
                                             utf8_prefix(type, kShownNameBytesMax), "\""))
        .reason("bad_response");
  }
  ERRAND_TRY(CallToolResult out, parse_call_result(*from));
  return CallOutcome(std::move(out));
}

json::Object to_json(const CallToolResult& result, Era era) {
  json::Array content;
  for (const Content& one : result.content) content.push_back(to_json(one));
  constexpr std::size_t kMembersMax = 5;  // with "_meta"
  json::Object out;
  out.reserve(kMembersMax);
  out["content"] = std::move(content);
  if (result.structured_content) out["structuredContent"] = *result.structured_content;
  if (result.is_error) out["isError"] = true;
  if (era == Era::modern) out["resultType"] = "complete";
  return out;
}

Content parse_content(const json::Value& value) {
  const json::Object* from = value.if_object();
  std::string type = text(from, "type");
  if (type == "text" && from->contains("text")) return TextContent{text(from, "text")};
  bool has_data = from && from->contains("data");
  if (type == "image" && has_data) return ImageContent{text(from, "data"), text(from, "mimeType")};
  if (type == "audio" && has_data) return AudioContent{text(from, "data"), text(from, "mimeType")};
  if (type == "resource_link" && from->contains("uri")) {
    return ResourceLink{.uri = text(from, "uri"),
                        .name = text(from, "name"),
                        .title = text(from, "title"),
                        .description = text(from, "description"),
                        .mime_type = text(from, "mimeType")};
  }
  if (type == "resource") {
    if (auto resource = parse_resource(json::object_at(from, "resource"))) return *resource;
  }
  return UnknownContent{std::string(utf8_prefix(type, kShownNameBytesMax))};
}

json::Object to_json(const Content& content) {
  return std::visit(ContentWriter{}, content);
}

Result<CreateMessageParams> parse_create_message(const json::Object& params) {
  const json::Array* messages = json::array_at(&params, "messages");
  if (!messages)
    return Error(ErrorCode::invalid_argument, "expected an array").pointer("/messages");
  CreateMessageParams out{.messages = {},
                          .system_prompt = text(&params, "systemPrompt"),
                          .max_tokens = json::integer_at(&params, "maxTokens").value_or(0)};
  for (const json::Value& one : *messages) {
    const json::Object* message = one.if_object();
    const json::Value* content = message ? message->if_contains("content") : nullptr;
    if (!content) return Error(ErrorCode::invalid_argument, "a message has no content");
    out.messages.push_back({.role = text(message, "role"), .content = parse_contents(*content)});
  }
  const json::Value* temperature = params.if_contains("temperature");
  if (temperature && temperature->is_number()) {
    out.temperature = temperature->to_number<double>();
  }
  if (const json::Array* stops = json::array_at(&params, "stopSequences")) {
    for (const json::Value& one : *stops) {
      if (one.is_string()) out.stop_sequences.emplace_back(json::view(one.as_string()));
    }
  }
  const json::Object* preferences = json::object_at(&params, "modelPreferences");
  if (const json::Array* hints = json::array_at(preferences, "hints")) {
    for (const json::Value& one : *hints) {
      std::string name = text(one.if_object(), "name");
      if (!name.empty()) out.model_hints.push_back(std::move(name));
    }
  }
  return out;
}

json::Object to_json(const CreateMessageResult& result) {
  return {{"role", "assistant"},
          {"content", to_json(result.content)},
          {"model", result.model},
          {"stopReason", result.stop_reason}};
}

Result<ElicitParams> parse_elicit(const json::Object& params) {
  ElicitParams out{.message = text(&params, "message")};
  if (json::text_at(&params, "mode") == "url") {
    out.mode = ElicitParams::Mode::url;
    out.url = text(&params, "url");
    return out;
  }
  const json::Object* schema = json::object_at(&params, "requestedSchema");
  if (!schema) {
    return Error(ErrorCode::invalid_argument, "expected an object").pointer("/requestedSchema");
  }
  out.requested_schema = *schema;
  return out;
}

json::Object to_json(const ElicitResult& result) {
  json::Object out{{"action", to_text(result.action)}};
  if (result.action == ElicitResult::Action::accept) out["content"] = result.content;
  return out;
}

json::Object to_json(const std::vector<Root>& roots) {
  json::Array list;
  for (const Root& root : roots) {
    json::Object one{{"uri", root.uri}};
    if (!root.name.empty()) one["name"] = root.name;
    list.push_back(std::move(one));
  }
  return {{"roots", std::move(list)}};
}

Error to_error(const rpc::RpcError& error) {
  std::string message = cat("the server answers with error ", error.code, ": ", error.message);
  if (error.code == rpc::code::kInvalidParams) {
    return Error(ErrorCode::invalid_argument, std::move(message)).reason("refused_by_server");
  }
  if (error.code == rpc::code::kMethodNotFound) {
    return Error(ErrorCode::unsupported, std::move(message)).reason("unknown_method");
  }
  return Error(ErrorCode::unavailable, std::move(message)).reason("server_error");
}

std::vector<json::Object> pages_to_open(const rpc::RpcError& error) {
  std::vector<json::Object> pages;
  if (error.code != code::kUrlElicitationRequired || !error.data) return pages;
  const json::Array* all = json::array_at(error.data->if_object(), "elicitations");
  if (!all) return pages;
  for (const json::Value& one : *all) {
    if (one.is_object() && pages.size() < kPagesToOpenMax) pages.push_back(one.as_object());
  }
  return pages;
}

Error without_effects(Error error) {
  if (error.code() != ErrorCode::outcome_unknown) return error;
  return Error(ErrorCode::unavailable, error.message()).reason(error.reason());
}

}  // namespace errand::mcp
