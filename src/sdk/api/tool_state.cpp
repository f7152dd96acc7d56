#include "sdk/api/tool_state.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "run/tools/tool_decl.hpp"

namespace errand::v1::detail {

Handler::~Handler() = default;

void Handler::start(const std::shared_ptr<ToolContext>& context, const Json& arguments,
                    HandlerDone done) const {
  done(nullptr, call(*context, arguments));
}

Json any_object_schema() {
  return type_schema("object");
}

void read_arguments(const TypeOps& ops, const Json& json, void* out) {
  Reader reader;
  if (!ops.read(reader, json, out)) throw BadArguments{reader.error()};
}

// ---- Results ------------------------------------------------------------------------------------

ToolResult content_result(Content content) {
  ToolResult out;
  out.content.push_back(std::move(content));
  return out;
}

ToolResult empty_result() {
  return content_result(EmptyContent{});
}
ToolResult text_result(std::string_view text) {
  return content_result(TextContent{std::string(text)});
}
ToolResult value_result(Json value) {
  return content_result(JsonContent{std::move(value)});
}

ToolResult object_result(Json value) {
  ToolResult out = value_result(value);
  out.structured = std::move(value);
  return out;
}

ToolResult json_result(Json value) {
  if (auto block = from_block(value)) return content_result(std::move(*block));
  if (const JsonArray* items = value.if_array(); items && !items->empty()) {
    ToolResult out;
    for (const Json& item : *items) {
      auto block = from_block(item);
      if (!block) return value_result(std::move(value));
      out.content.push_back(std::move(*block));
    }
    return out;
  }
  return value.if_object() ? object_result(std::move(value)) : value_result(std::move(value));
}

// ---- Schemas ------------------------------------------------------------------------------------

namespace {

constexpr std::string_view kDefsPrefix = "#/$defs/";

// Whether a schema refers to a definition that it lacks.
bool lacks_definition(const Json& part, const Json& root) {
  if (const JsonObject* object = part.if_object()) {
    const Json* reference = object->find("$ref");
    const std::string* text = reference ? reference->if_string() : nullptr;
    if (text && text->starts_with(kDefsPrefix)) {
      std::string_view name = std::string_view(*text).substr(kDefsPrefix.size());
      const Json* own = root.find("$defs");
      if (!own || !own->find(name.substr(0, name.find('/')))) return true;
    }
    return std::ranges::any_of(
        *object, [&](const JsonMember& one) { return lacks_definition(one.value, root); });
  }
  const JsonArray* items = part.if_array();
  return items &&
         std::ranges::any_of(*items, [&](const Json& one) { return lacks_definition(one, root); });
}

// Compiles a hand-written schema, unless the schema still lacks definitions.
void take_schema(std::optional<Json>& written, std::shared_ptr<const CheckedSchema>& compiled) {
  if (!written || lacks_definition(*written, *written)) return;
  compiled = std::make_shared<const CheckedSchema>(std::move(*written));
  written.reset();
}

Json with_definitions(Json schema, const JsonObject& definitions) {
  JsonObject all = definitions;
  if (const Json* own = schema.find("$defs"); own && own->if_object()) {
    for (const JsonMember& one : *own->if_object()) all.set(one.name, one.value);
  }
  if (JsonObject* object = schema.if_object()) object->set("$defs", std::move(all));
  return schema;
}

void check_name(const std::string& name) {
  if (is_valid_tool_name(name)) return;
  throw Error(ErrorCode::invalid_argument,
              cat("\"", utf8_prefix(name, 80),
                  "\" is no name for a tool: a name is 1 to 64 of the characters a-z, A-Z, 0-9 "
                  "and _"));
}

}  // namespace

void add_definitions(ToolState& state, const JsonObject& definitions) {
  if (state.written_input)
    state.written_input = with_definitions(*state.written_input, definitions);
  if (state.written_output) {
    state.written_output = with_definitions(*state.written_output, definitions);
  }
  take_schema(state.written_input, state.input);
  take_schema(state.written_output, state.output);
}

Tool make_tool(ToolParts parts) {
  check_name(parts.name);
  auto state = std::make_shared<ToolState>();
  state->name = std::move(parts.name);
  state->description = std::move(parts.description);
  state->options = parts.options;
  state->input = std::move(parts.input);
  state->output = std::move(parts.output);
  state->written_input = std::move(parts.written_schema);
  if (!state->output) state->written_output = parts.options.output_schema;
  state->handler = std::move(parts.handler);
  take_schema(state->written_input, state->input);
  take_schema(state->written_output, state->output);
  return Tool(std::move(state));
}

}  // namespace errand::v1::detail
