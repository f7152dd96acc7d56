#include <errand/detail/containers.hpp>
#include <errand/detail/schema_builder.hpp>
#include <limits>
#include <utility>

#include "base/text.hpp"

// The schemas of types that refer to no other type.
namespace errand::v1::detail {

Json type_schema(std::string_view type) {
  return JsonObject{{"type", type}};
}

Json integer_schema(IntegerRange range) {
  JsonObject out{{"type", "integer"}};
  bool is_signed_64 = range.min == std::numeric_limits<std::int64_t>::min();
  bool is_unsigned_64 = range.max == std::numeric_limits<std::uint64_t>::max();
  // 64-bit bounds are left out, because most readers of a schema would round them.
  if (!is_signed_64) out.set("minimum", range.min);
  if (!is_signed_64 && !is_unsigned_64) out.set("maximum", range.max);
  return out;
}

Json list_schema(Json items) {
  return JsonObject{{"type", "array"}, {"items", std::move(items)}};
}

Json fixed_list_schema(Json items, std::size_t size) {
  return JsonObject{
      {"type", "array"}, {"items", std::move(items)}, {"minItems", size}, {"maxItems", size}};
}

Json set_schema(Json items) {
  return JsonObject{{"type", "array"}, {"items", std::move(items)}, {"uniqueItems", true}};
}

Json map_schema(Json values) {
  return JsonObject{{"type", "object"}, {"additionalProperties", std::move(values)}};
}

Json integer_map_schema(Json values) {
  return JsonObject{{"type", "object"},
                    {"propertyNames", JsonObject{{"pattern", "^(0|-?[1-9][0-9]*)$"}}},
                    {"additionalProperties", std::move(values)}};
}

namespace {

JsonArray enum_names(const EnumInfo& info) {
  JsonArray out;
  for (const EnumInfo::Entry& entry : info.entries) out.push_back(entry.name);
  return out;
}

}  // namespace

Json enum_map_schema(Json values, const EnumInfo& info) {
  return JsonObject{{"type", "object"},
                    {"propertyNames", JsonObject{{"enum", enum_names(info)}}},
                    {"additionalProperties", std::move(values)}};
}

Json enum_schema(const EnumInfo& info) {
  JsonObject out{{"type", "string"}, {"enum", enum_names(info)}};
  std::string description;
  for (const EnumInfo::Entry& entry : info.entries) {
    if (entry.description.empty()) continue;
    append(description, description.empty() ? "" : "\n", entry.name, ": ", entry.description);
  }
  if (!description.empty()) out.set("description", std::move(description));
  return out;
}

Json tuple_schema(std::vector<Json> items) {
  std::size_t size = items.size();
  JsonObject out{{"type", "array"}};
  if (!items.empty()) out.set("prefixItems", std::move(items));
  out.set("items", false);
  out.set("minItems", size);
  return out;
}

Json literals_schema(JsonArray literals) {
  bool all_texts = true;
  bool all_numbers = true;
  for (const Json& literal : literals) (literal.if_string() ? all_numbers : all_texts) = false;
  JsonObject out;
  if (all_texts) out.set("type", "string");
  if (all_numbers) out.set("type", "integer");
  if (literals.size() == 1) {
    out.set("const", literals.front());
  } else {
    out.set("enum", std::move(literals));
  }
  return out;
}

Json nullable_schema(Json schema) {
  JsonObject* object = schema.if_object();
  if (!object || object->empty()) return schema;
  Json* type = object->find("type");
  if (type && type->if_string() && !object->contains("const")) {
    if (*type->if_string() == "null") return schema;
    *type = JsonArray{*type, "null"};
    if (Json* values = object->find("enum")) values->if_array()->push_back(nullptr);
    return schema;
  }
  if (type && type->if_array()) return schema;  // an optional of an optional
  if (Json* any = object->find("anyOf"); any && object->size() == 1) {
    any->if_array()->push_back(type_schema("null"));
    return schema;
  }
  return JsonObject{{"anyOf", JsonArray{std::move(schema), type_schema("null")}}};
}

}  // namespace errand::v1::detail
