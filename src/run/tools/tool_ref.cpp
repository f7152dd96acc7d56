#include "run/tools/tool_ref.hpp"

#include <algorithm>
#include <array>

#include "base/limit_met.hpp"
#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/write.hpp"
#include "run/tools/http_words.hpp"
#include "run/tools/object_schema.hpp"
#include "run/tools/tool_kinds.hpp"

namespace errand {
namespace {

using json::Fields;

std::string read_name(Fields& in) {
  std::string name = in.text("name");
  if (in.ok() && !is_valid_tool_name(name)) {
    in.fail("name", cat("\"", utf8_prefix(name, 80),
                        "\" is not a tool name: use 1 to 64 letters, digits and underscores"));
  }
  return name;
}

void check_short(Fields& in, std::string_view key, std::string_view text) {
  if (in.ok() && text.empty()) in.fail(key, cat("\"", key, "\" is empty"));
  if (text.size() > kRefTextBytesMax) {
    in.fail(limit_met(cat("\"", key, "\" is longer than ", kRefTextBytesMax, " bytes"),
                      in.pointer_to(key), cat(key, "Bytes"), kRefTextBytesMax));
  }
}

std::string read_short(Fields& in, std::string_view key) {
  std::string text = in.text(key);
  check_short(in, key, text);
  return text;
}

std::string read_url(Fields& in, std::string_view key) {
  std::string url = read_short(in, key);
  if (in.ok() && !is_http_url(url)) {
    in.fail(key, "expected a URL that begins with https:// or http://");
  }
  return url;
}

Headers read_headers(Fields& in) {
  Headers headers;
  const json::Object* object = in.optional_object("headers");
  if (!object) return headers;
  if (object->size() > kHeadersMax) {
    in.fail(limit_met(cat("at most ", kHeadersMax, " headers are allowed"),
                      in.pointer_to("headers"), "headers", kHeadersMax));
  }
  for (const auto& member : *object) {
    std::string name(member.key().data(), member.key().size());
    std::string pointer = json::child_pointer(in.pointer_to("headers"), name);
    const auto* text = member.value().if_string();
    std::string value(text ? json::view(*text) : "");
    if (value.size() > kHeaderValueBytesMax) {
      in.fail(
          limit_met(cat("the value of a header is longer than ", kHeaderValueBytesMax, " bytes"),
                    pointer, "headerValueBytes", kHeaderValueBytesMax));
    } else if (!text || !is_header_name(name) || !is_header_value(value)) {
      in.fail(Error(ErrorCode::invalid_argument, "expected a header: a name and a line of text")
                  .pointer(pointer));
    }
    headers.emplace_back(std::move(name), std::move(value));
  }
  return headers;
}

ObjectPtr share(const json::Object& object, const ValuePtr& keeper) {
  return keeper ? ObjectPtr(keeper, &object) : share_schema(object);
}

// An object that is sent along with every call.
ObjectPtr read_echo(Fields& in, std::string_view key, const ValuePtr& keeper) {
  const json::Object* object = in.optional_object(key);
  if (!object) return nullptr;
  std::string text;
  json::write(text, *object);
  if (text.size() > kEchoBytesMax) {
    in.fail(limit_met(cat("\"", key, "\" is longer than ", kEchoBytesMax, " bytes"),
                      in.pointer_to(key), cat(key, "Bytes"), kEchoBytesMax));
  }
  return share(*object, keeper);
}

Result<ToolRef> parse_local_tool(Fields in, const ValuePtr& keeper) {
  LocalTool tool;
  tool.name = read_name(in);
  tool.description = in.optional_text("description").value_or("");
  tool.parameters = arguments_schema(in.optional_object("parameters"), keeper);
  tool.output_schema = object_schema(in.optional_object("outputSchema"), keeper);
  tool.annotations = {.read_only = in.optional_flag("readOnly").value_or(false),
                      .idempotent = in.optional_flag("idempotent").value_or(false),
                      .parallel_safe = in.optional_flag("parallelSafe").value_or(true),
                      .long_running = in.optional_flag("longRunning").value_or(false),
                      .retain = in.optional_flag("retain").value_or(false),
                      .cancel_siblings = in.optional_flag("cancelSiblings").value_or(false),
                      .checks_arguments = in.optional_flag("checksArguments").value_or(false),
                      .checks_results = in.optional_flag("checksResults").value_or(false)};
  if (auto millis = in.optional_integer("timeoutMs", 1, kToolTimeoutMax.count())) {
    tool.annotations.timeout = milliseconds(*millis);
  }
  return in.finish<ToolRef>(std::move(tool));
}

Result<ToolRef> parse_local_agent(Fields in, const ValuePtr& keeper) {
  LocalAgent agent;
  agent.name = read_name(in);
  agent.description = in.optional_text("description");
  agent.card = read_echo(in, "agentCard", keeper);
  if (!agent.card) in.fail("agentCard", "\"agentCard\" is missing: expected an object");
  agent.continues_tasks = in.optional_flag("continuesTasks").value_or(false);
  return in.finish<ToolRef>(std::move(agent));
}

// One tool of a catalog: the members that are used here are checked, and the rest is kept as it is.
Result<ObjectPtr> parse_mcp_tool(const json::Value& value, std::string_view pointer,
                                 const ValuePtr& keeper) {
  Fields in(value, pointer);
  read_name(in);
  in.optional_text("description");
  in.optional_object("inputSchema");
  read_echo(in, "annotations", keeper);
  ERRAND_CHECK(in.finish());
  return share(value.get_object(), keeper);
}

Result<ToolRef> parse_local_mcp_server(Fields in, const ValuePtr& keeper) {
  LocalMcpServer server;
  server.name = read_name(in);
  server.info = read_echo(in, "serverInfo", keeper);
  const json::Array* tools = in.optional_array("tools");
  ERRAND_CHECK(in.finish());
  if (!tools || tools->empty() || tools->size() > kMcpLocalToolsMax) {
    return limit_met(cat("expected the server's tools: an array of 1 to ", kMcpLocalToolsMax,
                         tools ? cat(", got ", tools->size()) : ""),
                     in.pointer_to("tools"), "mcpLocalTools", kMcpLocalToolsMax);
  }
  for (std::size_t i = 0; i < tools->size(); ++i) {
    std::string pointer = json::child_pointer(in.pointer_to("tools"), i);
    ERRAND_TRY(auto tool, parse_mcp_tool((*tools)[i], pointer, keeper));
    server.tools.push_back(std::move(tool));
  }
  return ToolRef(std::move(server));
}

std::optional<std::vector<std::string>> read_tool_filter(Fields& in) {
  const json::Array* filter = in.optional_array("toolFilter");
  if (!filter) return {};
  if (filter->size() > kToolFilterMax) {
    in.fail(limit_met(cat("at most ", kToolFilterMax, " names are allowed"),
                      in.pointer_to("toolFilter"), "toolFilter", kToolFilterMax));
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < filter->size(); ++i) {
    const auto* name = (*filter)[i].if_string();
    if (!name || name->empty() || name->size() > kRefTextBytesMax) {
      in.fail(Error(ErrorCode::invalid_argument, "expected the name of a tool")
                  .pointer(json::child_pointer(in.pointer_to("toolFilter"), i)));
    }
    names.emplace_back(name ? json::view(*name) : "");
  }
  return names;
}

// A URL, or "config:NAME" for a server of that name in the configuration.
std::string read_server_url(Fields& in) {
  std::string url = read_short(in, "url");
  if (in.ok() && url.starts_with(kConfiguredServer)) return url;
  return in.ok() ? read_url(in, "url") : url;
}

Result<ToolRef> parse_mcp_server(Fields in) {
  McpServer server;
  server.name = read_name(in);
  server.url = read_server_url(in);
  server.headers = read_headers(in);
  server.tool_filter = read_tool_filter(in);
  if (auto millis = in.optional_integer("timeoutMs", 1, kToolTimeoutMax.count())) {
    server.timeout = milliseconds(*millis);
  }
  return in.finish<ToolRef>(std::move(server));
}

Result<ToolRef> parse_remote_agent(Fields in) {
  RemoteAgent agent;
  agent.name = read_name(in);
  agent.description = in.optional_text("description");
  agent.card_url = read_url(in, "agentCardUrl");
  agent.headers = read_headers(in);
  agent.context_id = in.optional_text("contextId");
  if (agent.context_id) check_short(in, "contextId", *agent.context_id);
  return in.finish<ToolRef>(std::move(agent));
}

Result<ToolRef> parse_stored_agent(Fields in) {
  StoredAgent agent{.agent_id = read_short(in, "agentId")};
  if (in.optional_text("name")) agent.name = read_name(in);
  agent.description = in.optional_text("description");
  return in.finish<ToolRef>(std::move(agent));
}

Result<ToolRef> parse_room_ref(Fields in) {
  RoomRef room{.name = in.optional_text("name").value_or(""),
               .url = in.optional_text("url").value_or(""),
               .headers = read_headers(in),
               .participant = in.optional_text("participant").value_or("")};
  if (const json::Value* required = in.optional_any("requiredToolkits")) {
    auto parsed = parse_required_toolkits(*required, in.pointer_to("requiredToolkits"));
    if (!parsed) return std::move(parsed).error();
    room.required = std::move(*parsed);
  }
  return in.finish<ToolRef>(std::move(room));
}

json::Object headers_json(const Headers& headers) {
  json::Object out;
  for (const auto& [name, value] : headers) out[name] = value;
  return out;
}

struct RefWriter {
  json::Object operator()(const LocalTool& tool) const {
    json::Object out{{"kind", "local"},
                     {"name", tool.name},
                     {"description", tool.description},
                     {"parameters", *tool.parameters}};
    if (tool.output_schema) out["outputSchema"] = *tool.output_schema;
    const ToolAnnotations& notes = tool.annotations;
    if (notes.read_only) out["readOnly"] = true;
    if (notes.idempotent) out["idempotent"] = true;
    if (!notes.parallel_safe) out["parallelSafe"] = false;
    if (notes.long_running) out["longRunning"] = true;
    if (notes.retain) out["retain"] = true;
    if (notes.cancel_siblings) out["cancelSiblings"] = true;
    if (notes.checks_arguments) out["checksArguments"] = true;
    if (notes.checks_results) out["checksResults"] = true;
    if (notes.timeout) out["timeoutMs"] = notes.timeout->count();
    return out;
  }

  json::Object operator()(const LocalAgent& agent) const {
    json::Object out{{"kind", "a2a_local"}, {"name", agent.name}};
    if (agent.description) out["description"] = *agent.description;
    out["agentCard"] = *agent.card;
    if (agent.continues_tasks) out["continuesTasks"] = true;
    return out;
  }

  json::Object operator()(const LocalMcpServer& server) const {
    json::Object out{{"kind", "mcp_local"}, {"name", server.name}};
    if (server.info) out["serverInfo"] = *server.info;
    json::Array tools;
    for (const ObjectPtr& tool : server.tools) tools.emplace_back(*tool);
    out["tools"] = std::move(tools);
    return out;
  }

  json::Object operator()(const McpServer& server) const {
    json::Object out{{"kind", "mcp"}, {"name", server.name}, {"url", server.url}};
    if (!server.headers.empty()) out["headers"] = headers_json(server.headers);
    if (server.tool_filter) {
      json::Array names;
      for (const std::string& name : *server.tool_filter) names.emplace_back(name);
      out["toolFilter"] = std::move(names);
    }
    if (server.timeout) out["timeoutMs"] = server.timeout->count();
    return out;
  }

  json::Object operator()(const RemoteAgent& agent) const {
    json::Object out{{"kind", "a2a"}, {"name", agent.name}};
    if (agent.description) out["description"] = *agent.description;
    out["agentCardUrl"] = agent.card_url;
    if (!agent.headers.empty()) out["headers"] = headers_json(agent.headers);
    if (agent.context_id) out["contextId"] = *agent.context_id;
    return out;
  }

  json::Object operator()(const WorkspaceTool& tool) const {
    return {{"kind", "mantyx"}, {"id", tool.id}};
  }

  json::Object operator()(const PluginTool& tool) const {
    return {{"kind", "mantyx_plugin"}, {"name", tool.name}};
  }

  json::Object operator()(const HostTool& tool) const {
    return {{"kind", "host"}, {"name", tool.name}};
  }

  json::Object operator()(const StoredAgent& agent) const {
    json::Object out{{"kind", "agent"}, {"agentId", agent.agent_id}};
    if (!agent.name.empty()) out["name"] = agent.name;
    if (agent.description) out["description"] = *agent.description;
    return out;
  }

  json::Object operator()(const RoomRef& room) const {
    json::Object out{{"kind", "room"}, {"participant", room.participant}};
    if (!room.name.empty()) out["name"] = room.name;
    if (!room.url.empty()) out["url"] = room.url;
    if (!room.headers.empty()) out["headers"] = headers_json(room.headers);
    if (!room.required.empty()) out["requiredToolkits"] = to_json(room.required);
    return out;
  }
};

// "a", "b" or "c"
std::string quoted_kinds() {
  std::string out;
  for (const std::string_view& kind : kToolKinds) {
    std::string_view before = &kind == &kToolKinds.back() ? " or " : ", ";
    append(out, out.empty() ? "" : before, '"', kind, '"');
  }
  return out;
}

}  // namespace

Result<ToolRef> parse_tool_ref(const json::Value& value, std::string_view pointer, Origin origin,
                               const ValuePtr& keeper) {
  Fields in(value, pointer);
  std::string kind = in.text("kind");
  ERRAND_CHECK(in.finish());
  if (kind == "local") return parse_local_tool(std::move(in), keeper);
  if (kind == "a2a_local") return parse_local_agent(std::move(in), keeper);
  if (kind == "mcp_local") return parse_local_mcp_server(std::move(in), keeper);
  if (kind == "mcp") return parse_mcp_server(std::move(in));
  if (kind == "a2a") return parse_remote_agent(std::move(in));
  if (kind == "agent") return parse_stored_agent(std::move(in));
  if (kind == "mantyx") {
    WorkspaceTool tool{.id = read_short(in, "id")};
    return in.finish<ToolRef>(std::move(tool));
  }
  if (kind == "mantyx_plugin") {
    PluginTool tool{.name = read_short(in, "name")};
    return in.finish<ToolRef>(std::move(tool));
  }
  if (kind == "host" && origin == Origin::journal) {
    HostTool tool{.name = in.text("name")};
    return in.finish<ToolRef>(std::move(tool));
  }
  if (kind == "room" && origin == Origin::journal) return parse_room_ref(std::move(in));
  return Error(ErrorCode::invalid_argument,
               cat('"', utf8_prefix(kind, 40), "\" is not a kind of tool: use ", quoted_kinds()))
      .pointer(in.pointer_to("kind"));
}

std::string_view kind_of(const ToolRef& ref) {
  static constexpr std::array<std::string_view, std::variant_size_v<ToolRef>> kKinds = {
      "local",  "a2a_local",     "mcp_local", "mcp",   "a2a",
      "mantyx", "mantyx_plugin", "host",      "agent", "room"};
  return kKinds[ref.index()];
}

bool is_required(const ToolRef& ref) {
  const auto* room = std::get_if<RoomRef>(&ref);
  return room && !room->required.empty();
}

json::Object to_json(const ToolRef& ref) {
  return std::visit(RefWriter(), ref);
}

}  // namespace errand
