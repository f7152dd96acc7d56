#include <errand/detail/schema_builder.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/text.hpp"

namespace errand::v1::detail {
namespace {

constexpr std::string_view kDefs = "#/$defs/";

bool ends_sentence(std::string_view text) {
  return text.ends_with('.') || text.ends_with('!') || text.ends_with('?');
}

// A member's description, followed by that of its type ("In seconds.").
void add_description(JsonObject& schema, const std::string& text) {
  if (text.empty()) return;
  const Json* of_type = schema.find("description");
  if (!of_type) return schema.set("description", text);
  std::string_view end = ends_sentence(text) ? " " : ". ";
  schema.set("description", cat(text, end, *of_type->if_string()));
}

void add_keywords(JsonObject& schema, const Field& field) {
  for (const JsonMember& keyword : field.keywords) {
    Json value = keyword.value;
    if (keyword.name == "enum" && field.ops->may_be_missing) value.if_array()->push_back(nullptr);
    schema.set(keyword.name, std::move(value));
  }
}

// A default that the keywords forbid, such as "" where only certain texts are allowed, is left out.
bool tells_default(const Field& field) {
  const Json* allowed = field.keywords.find("enum");
  if (!field.has_default || !allowed) return field.has_default;
  const JsonArray& list = *allowed->if_array();
  return std::find(list.begin(), list.end(), field.default_value) != list.end();
}

Json field_schema(SchemaBuilder& builder, const Field& field) {
  Json schema = field.ops->schema(builder);
  JsonObject& object = *schema.if_object();
  add_keywords(object, field);
  add_description(object, field.description);
  if (tells_default(field)) object.set("default", field.default_value);
  return schema;
}

}  // namespace

struct SchemaBuilder::Impl {
  struct Definition {
    std::string name;
    Json schema = {};
    std::size_t uses = 0;
  };

  Definition* find(std::string_view name) {
    for (Definition& one : definitions) {
      if (one.name == name) return &one;
    }
    return nullptr;
  }

  // The definition that a schema refers to; null if the schema is not a reference.
  Definition* target(const Json& schema) {
    const JsonObject* object = schema.if_object();
    const Json* reference = object ? object->find("$ref") : nullptr;
    const std::string* text = reference ? reference->if_string() : nullptr;
    if (!text || !text->starts_with(kDefs)) return nullptr;
    return find(std::string_view(*text).substr(kDefs.size()));
  }

  void resolve(Json& schema);
  void count(Json& schema);

  std::deque<Definition> definitions;  // a deque, because definitions must not move
  std::map<const ObjectInfo*, Definition*> by_info;
  Definition* root = nullptr;
};

SchemaBuilder::SchemaBuilder() : impl_(std::make_unique<Impl>()) {}
SchemaBuilder::~SchemaBuilder() = default;

Json SchemaBuilder::object(const ObjectInfo& info) {
  auto known = impl_->by_info.find(&info);
  if (known == impl_->by_info.end()) {
    std::string name = info.type_name;
    for (int number = 2; impl_->find(name); ++number) name = cat(info.type_name, "_", number);
    Impl::Definition& definition = impl_->definitions.emplace_back(Impl::Definition{name});
    known = impl_->by_info.emplace(&info, &definition).first;
    // Called after the definition is registered, because its own members may refer to it.
    definition.schema = object_schema(*this, info);
  }
  return JsonObject{{"$ref", cat(kDefs, known->second->name)}};
}

Json object_schema(SchemaBuilder& builder, const ObjectInfo& info) {
  JsonObject properties;
  JsonArray required;
  for (const Field& field : info.fields) {
    properties.set(field.name, field_schema(builder, field));
    if (field.required) required.push_back(field.name);
  }
  JsonObject out{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) out.set("required", std::move(required));
  out.set("additionalProperties", false);
  return out;
}

Json alternatives_schema(SchemaBuilder& builder, const Alternatives& alternatives) {
  JsonArray any;
  for (const Alternatives::One& one : alternatives.list) any.push_back(one.ops->schema(builder));
  return JsonObject{{"anyOf", std::move(any)}};
}

// Calls `visit` for the subschemas of a schema that we built, skipping "default", "const" and
// "enum".
template <class Visit>
void for_each_subschema(Json& schema, Visit visit) {
  for (std::string_view keyword : {"items", "additionalProperties"}) {
    Json* one = schema.if_object() ? schema.if_object()->find(keyword) : nullptr;
    if (one) visit(*one);
  }
  for (std::string_view keyword : {"anyOf", "prefixItems"}) {
    Json* list = schema.if_object() ? schema.if_object()->find(keyword) : nullptr;
    if (!list) continue;
    for (Json& one : *list->if_array()) visit(one);
  }
  Json* properties = schema.if_object() ? schema.if_object()->find("properties") : nullptr;
  if (!properties) return;
  for (const JsonMember& member : *properties->if_object()) visit((*properties)[member.name]);
}

void SchemaBuilder::Impl::count(Json& schema) {
  if (Definition* definition = target(schema)) ++definition->uses;
  for_each_subschema(schema, [this](Json& one) { count(one); });
}

// Moves a definition that is used only once to the place of its use.
void SchemaBuilder::Impl::resolve(Json& schema) {
  Definition* definition = target(schema);
  if (definition && definition == root) {
    schema.if_object()->set("$ref", "#");
  } else if (definition && definition->uses == 1) {
    JsonObject siblings = std::move(*schema.if_object());
    siblings.erase("$ref");
    schema = std::move(definition->schema);
    for (const JsonMember& sibling : siblings) {
      schema.if_object()->set(sibling.name, sibling.value);
    }
  }
  for_each_subschema(schema, [this](Json& one) { resolve(one); });
}

Json SchemaBuilder::build(const TypeOps& ops) {
  Json schema = ops.schema(*this);
  impl_->count(schema);
  for (Impl::Definition& definition : impl_->definitions) impl_->count(definition.schema);
  impl_->root = impl_->target(schema);
  if (impl_->root) schema = impl_->root->schema;
  impl_->resolve(schema);
  JsonObject definitions;
  for (Impl::Definition& definition : impl_->definitions) {
    if (&definition == impl_->root || definition.uses < 2) continue;
    impl_->resolve(definition.schema);
    definitions.set(definition.name, std::move(definition.schema));
  }
  if (!definitions.empty()) schema.if_object()->set("$defs", std::move(definitions));
  return schema;
}

}  // namespace errand::v1::detail
