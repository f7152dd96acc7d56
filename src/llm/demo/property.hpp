#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.hpp"

namespace errand::llm {

// What the text of a property stands for, as far as its name tells.
enum class Want { any, url, email, path, date, expression, topic, message };

// A property of a JSON Schema, with references followed. Points into the schema.
struct Property {
  std::string name;
  const json::Object* schema = nullptr;
  std::string_view type;  // "string", "object", ...
  Want want = Want::any;
  bool is_required = false;
  bool is_only_required = false;  // no other property of the object is required
};

// The schema itself as a required property, under a name.
Property whole_schema(const json::Object& schema, const json::Object& root, std::string_view name);

// The properties of an object's schema in the order in which they are filled: enums, which take
// words that others could mistake for theirs, then required ones, then optional ones.
std::vector<Property> properties_of(const json::Object& schema, const json::Object& root);

// The items of an array's schema. They are named and wanted as the array is.
Property items_of(const Property& array, const json::Object& root);

// A member of a schema; nothing of its kind gives nullptr, "" or `otherwise`.
const json::Array* array_member(const json::Object& schema, std::string_view key);
std::string_view text_member(const json::Object& schema, std::string_view key);
double number_member(const json::Object& schema, std::string_view key, double otherwise);
// A number of characters or items, at most kCountMax.
std::size_t count_member(const json::Object& schema, std::string_view key, std::size_t otherwise);

// Schemas come from anybody: what lies beyond these is not looked at.
constexpr std::size_t kPropertiesMax = 200;
constexpr std::size_t kCountMax = 1000;

// A value that is valid and says nothing, of any type but object and array. "pattern" is not read.
json::Value smallest_scalar(const Property& property);

}  // namespace errand::llm
