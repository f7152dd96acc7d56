#include "llm/demo/property.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "llm/demo/prompt.hpp"

namespace errand::llm {
namespace {

constexpr int kReferencesMax = 16;

const json::Object& anything() {
  static const json::Object empty;
  return empty;
}

struct WantWords {
  Want want;
  std::string_view words;
};
constexpr WantWords kWantWords[] = {
    {Want::url, "url uri link"},
    {Want::email, "email recipient"},
    {Want::path, "path file filename directory folder"},
    {Want::date, "date day deadline"},
    {Want::expression, "expression formula equation"},
    {Want::topic, "query pattern search term keyword topic"},
    {Want::message, "message body content text note answer summary"}};

struct Sample {
  std::string_view format;
  std::string_view text;
};
constexpr Sample kSamples[] = {{"date", "2000-01-01"},
                               {"date-time", "2000-01-01T00:00:00Z"},
                               {"time", "00:00:00Z"},
                               {"email", "demo@example.com"},
                               {"uri", "https://example.com/"},
                               {"url", "https://example.com/"},
                               {"uuid", "00000000-0000-4000-8000-000000000000"},
                               {"hostname", "example.com"},
                               {"ipv4", "127.0.0.1"},
                               {"ipv6", "::1"}};

const json::Object* object_member(const json::Object& schema, std::string_view key) {
  const json::Value* value = schema.if_contains(key);
  return value ? value->if_object() : nullptr;
}

Want want_in(std::string_view text) {
  std::vector<std::string> words = split_words(text);
  for (const WantWords& row : kWantWords) {
    for (const std::string& word : words) {
      if (is_one_of(word, row.words)) return row.want;
    }
  }
  return Want::any;
}

// "#/$defs/Name" and the like; nothing else is followed.
const json::Object* referred(std::string_view reference, const json::Object& root) {
  if (reference == "#") return &root;
  for (std::string_view key : {"$defs", "definitions"}) {
    std::string prefix = cat("#/", key, "/");
    const json::Object* definitions = object_member(root, key);
    if (!definitions || !reference.starts_with(prefix)) continue;
    return object_member(*definitions, reference.substr(prefix.size()));
  }
  return nullptr;
}

std::string_view type_of(const json::Object& schema) {
  if (const json::Array* types = array_member(schema, "type")) {
    for (const json::Value& type : *types) {
      if (type.is_string() && type.get_string() != "null") return json::view(type.get_string());
    }
  }
  if (std::string_view type = text_member(schema, "type"); !type.empty()) return type;
  if (schema.contains("properties")) return "object";
  return schema.contains("items") ? "array" : "string";
}

// Of alternatives, the first that is not null.
const json::Object* first_alternative(const json::Object& schema) {
  for (std::string_view key : {"anyOf", "oneOf", "allOf"}) {
    const json::Array* alternatives = array_member(schema, key);
    if (!alternatives) continue;
    for (const json::Value& one : *alternatives) {
      if (one.is_object() && text_member(one.get_object(), "type") != "null")
        return &one.get_object();
    }
  }
  return nullptr;
}

const json::Object& resolved(const json::Object& schema, const json::Object& root) {
  const json::Object* at = &schema;
  for (int i = 0; i < kReferencesMax; ++i) {
    std::string_view reference = text_member(*at, "$ref");
    const json::Object* next = reference.empty() ? nullptr : referred(reference, root);
    if (!next && !at->contains("type")) next = first_alternative(*at);
    if (!next) break;
    at = next;
  }
  return *at;
}

bool names_text(const json::Array* array, std::string_view text) {
  return array && std::any_of(array->begin(), array->end(), [&](const json::Value& one) {
           return one.is_string() && json::view(one.get_string()) == text;
         });
}

Want want_of(const Property& property) {
  Want want = want_in(property.name);
  if (want == Want::any) want = want_in(text_member(*property.schema, "format"));
  if (want != Want::any || !property.is_required) return want;
  // A description mentions much that its property is not.
  Want hinted = want_in(text_member(*property.schema, "description"));
  bool is_clear = hinted == Want::url || hinted == Want::path || hinted == Want::expression;
  return is_clear ? hinted : want;
}

int filling_order(const Property& property) {
  if (property.schema->contains("enum")) return 0;
  return property.is_required ? 1 : 2;
}

json::Value smallest_text(const json::Object& schema) {
  std::string_view format = text_member(schema, "format");
  for (const Sample& sample : kSamples) {
    if (sample.format == format) return json::Value(sample.text);
  }
  std::string text = "demo";
  std::size_t chars = std::max(text.size(), count_member(schema, "minLength", 0));
  text.resize(std::min(chars, count_member(schema, "maxLength", kCountMax)), '.');
  return json::Value(text);
}

json::Value smallest_number(const json::Object& schema, std::string_view type) {
  constexpr double kExactMax = 9e15;  // beyond, doubles are no longer exact integers
  double step = number_member(schema, "multipleOf", 1);
  if (!(step > 0)) step = 1;
  double min = std::max(number_member(schema, "minimum", -kExactMax),
                        number_member(schema, "exclusiveMinimum", -kExactMax) + step);
  double max = std::min(number_member(schema, "maximum", kExactMax),
                        number_member(schema, "exclusiveMaximum", kExactMax) - step);
  double steps = std::min(std::max(0.0, min), max) / step;
  double number = (steps < 0 ? std::floor(steps) : std::ceil(steps)) * step;
  number = std::min(std::max(number, -kExactMax), kExactMax);
  if (type == "integer") return json::Value(static_cast<std::int64_t>(number));
  return json::Value(number);
}

}  // namespace

const json::Array* array_member(const json::Object& schema, std::string_view key) {
  const json::Value* value = schema.if_contains(key);
  return value ? value->if_array() : nullptr;
}

std::string_view text_member(const json::Object& schema, std::string_view key) {
  const json::Value* value = schema.if_contains(key);
  return value && value->is_string() ? json::view(value->get_string()) : std::string_view();
}

double number_member(const json::Object& schema, std::string_view key, double otherwise) {
  const json::Value* value = schema.if_contains(key);
  return value && value->is_number() ? value->to_number<double>() : otherwise;
}

std::size_t count_member(const json::Object& schema, std::string_view key, std::size_t otherwise) {
  double count = number_member(schema, key, static_cast<double>(otherwise));
  return static_cast<std::size_t>(std::min(std::max(count, 0.0), double{kCountMax}));
}

Property whole_schema(const json::Object& schema, const json::Object& root, std::string_view name) {
  const json::Object& whole = resolved(schema, root);
  Property property{
      .name = std::string(name), .schema = &whole, .type = type_of(whole), .is_required = true};
  property.want = want_of(property);
  return property;
}

std::vector<Property> properties_of(const json::Object& schema, const json::Object& root) {
  const json::Array* required = array_member(schema, "required");
  const json::Object* members = object_member(schema, "properties");
  std::vector<Property> out;
  for (const auto& member : members ? *members : anything()) {
    if (out.size() == kPropertiesMax) break;
    const json::Object* own = member.value().if_object();
    Property property =
        whole_schema(own ? *own : anything(), root, {member.key().data(), member.key().size()});
    property.is_required = names_text(required, property.name);
    property.is_only_required = property.is_required && required->size() == 1;
    property.want = want_of(property);
    out.push_back(std::move(property));
  }
  std::vector<Property> ordered;
  for (int order : {0, 1, 2}) {
    std::copy_if(out.begin(), out.end(), std::back_inserter(ordered),
                 [&](const Property& one) { return filling_order(one) == order; });
  }
  return ordered;
}

Property items_of(const Property& array, const json::Object& root) {
  const json::Object* items = object_member(*array.schema, "items");
  Property property = whole_schema(items ? *items : anything(), root, array.name);
  property.is_required = array.is_required;
  property.want = array.want;
  return property;
}

json::Value smallest_scalar(const Property& property) {
  const json::Object& schema = *property.schema;
  const json::Array* values = array_member(schema, "enum");
  if (values && !values->empty()) return values->front();
  if (property.type == "boolean") return json::Value(false);
  if (property.type == "null") return nullptr;
  if (property.type == "integer" || property.type == "number")
    return smallest_number(schema, property.type);
  return smallest_text(schema);
}

}  // namespace errand::llm
