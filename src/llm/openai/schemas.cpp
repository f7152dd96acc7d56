#include "llm/openai/schemas.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "llm/members.hpp"
#include "llm/tool_words.hpp"

namespace errand::llm {
namespace {

constexpr std::array<std::string_view, 29> kForbidden = {
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependencies",
    "dependentSchemas",
    "dependentRequired",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "prefixItems",
    "contains",
    "minContains",
    "maxContains",
    "uniqueItems",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "$anchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
    "$recursiveAnchor",
    "additionalItems",
};

bool is_forbidden(std::string_view word) {
  return std::find(kForbidden.begin(), kForbidden.end(), word) != kForbidden.end();
}

bool is_strict(const json::Value& schema);

bool all_strict(const json::Object* schemas) {
  if (!schemas) return true;
  return std::all_of(schemas->begin(), schemas->end(),
                     [](const auto& member) { return is_strict(member.value()); });
}

bool is_closed_object(const json::Object& schema) {
  const json::Value* more = schema.if_contains("additionalProperties");
  if (!more || !more->is_bool() || more->as_bool()) return false;
  const json::Object* properties = object_at(&schema, "properties");
  if (!properties) return true;
  const json::Array* required = array_at(&schema, "required");
  return std::all_of(properties->begin(), properties->end(), [&](const auto& member) {
    json::Value name(member.key());
    return required && std::find(required->begin(), required->end(), name) != required->end();
  });
}

bool says_object(const json::Object& schema) {
  if (schema.contains("properties") || text_at(&schema, "type") == "object") return true;
  const json::Array* types = array_at(&schema, "type");
  return types && std::find(types->begin(), types->end(), json::Value("object")) != types->end();
}

bool is_strict(const json::Value& value) {
  const json::Object* schema = value.if_object();
  if (!schema) return false;
  for (const auto& member : *schema) {
    if (is_forbidden({member.key().data(), member.key().size()})) return false;
  }
  if (schema->contains("$ref")) return text_at(schema, "$ref").starts_with('#');
  if (says_object(*schema) && !is_closed_object(*schema)) return false;
  const json::Array* choices = array_at(schema, "anyOf");
  if (choices && !std::all_of(choices->begin(), choices->end(), is_strict)) return false;
  const json::Value* items = schema->if_contains("items");
  return (!items || is_strict(*items)) && all_strict(object_at(schema, "properties")) &&
         all_strict(object_at(schema, "$defs")) && all_strict(object_at(schema, "definitions"));
}

void drop_long_limits(json::Value& value, std::int64_t length_max) {
  if (json::Array* array = value.if_array()) {
    for (json::Value& item : *array) drop_long_limits(item, length_max);
  }
  json::Object* object = value.if_object();
  if (!object) return;
  auto limit = integer_at(object, "maxLength");
  if (limit && *limit > length_max) object->erase("maxLength");
  for (auto& member : *object) drop_long_limits(member.value(), length_max);
}

}  // namespace

bool fits_strict_subset(const json::Object& schema) {
  return text_at(&schema, "type") == "object" && !schema.contains("anyOf") && is_strict(schema);
}

json::Object parameters_of(const ToolDecl& tool, std::optional<std::int64_t> length_max) {
  json::Object out = flat_input_schema(tool);
  if (!out.contains("type")) out["type"] = "object";
  if (!out.contains("properties")) out["properties"] = json::Object();
  if (!length_max) return out;
  json::Value value(std::move(out));
  drop_long_limits(value, *length_max);
  return std::move(value.as_object());
}

bool is_sent_as_it_is(const json::Object& schema) {
  return schema.contains("type") && schema.contains("properties") && !array_at(&schema, "allOf");
}

std::string_view effort_of(int level, std::string_view effort_min) {
  if (level <= 0) return effort_min;
  return level <= 35 ? "low" : level <= 65 ? "medium" : "high";
}

std::string_view wire_id(std::string_view provider_id, const ToolUseId& id) {
  return provider_id.empty() ? id.view() : provider_id;
}

std::string result_text(const ToolResultPart& result) {
  return result.ok ? result.text : cat("Error: ", result.text);
}

}  // namespace errand::llm
