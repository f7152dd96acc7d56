#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/text.hpp"
#include "json/schema/compiler.hpp"

namespace errand::json::schema {

namespace {

// Subtracts the bytes of a text, and of the value that holds it, from what is left.
bool spend(std::size_t& bytes_left, std::size_t bytes) {
  constexpr std::size_t kBytesPerValue = 8;
  if (bytes_left < bytes + kBytesPerValue) return false;
  bytes_left -= bytes + kBytesPerValue;
  return true;
}

}  // namespace

enum class Vocabulary : std::uint8_t { core, applicator, unevaluated, validation };

// Values that a keyword certainly accepts; `unknown` where that is hard to say.
enum class Plain : std::uint8_t {
  unknown,
  scalar,
  text,
  flag,
  count,
  number,
  types,
  names,
  scalars,
  schema,
  schemas,
  schema_list
};

struct Compiler::Keyword {
  std::string_view name;
  Vocabulary vocabulary;
  unsigned drafts;
  Handler handler;
  Plain plain = Plain::unknown;
};

const Compiler::Keyword* Compiler::find_keyword(std::string_view name) {
  using enum Vocabulary;
  using C = Compiler;
  constexpr unsigned kSeven = static_cast<unsigned>(Draft::seven);
  constexpr unsigned k2020 = static_cast<unsigned>(Draft::v2020_12);
  constexpr unsigned kBoth = kSeven | k2020;
  static constexpr Keyword kKeywords[] = {
      {"$defs", core, k2020, &C::definitions},
      {"$dynamicRef", core, k2020, &C::dynamic_ref},
      {"$ref", core, kBoth, &C::ref},
      {"additionalItems", applicator, kSeven, &C::additional_items},
      {"additionalProperties", applicator, kBoth, &C::additional_properties, Plain::schema},
      {"allOf", applicator, kBoth, &C::all_of, Plain::schema_list},
      {"anyOf", applicator, kBoth, &C::any_of, Plain::schema_list},
      {"const", validation, kBoth, &C::constant, Plain::scalar},
      {"contains", applicator, kBoth, &C::contains},
      {"definitions", core, kBoth, &C::definitions},
      {"dependencies", applicator, kSeven, &C::dependencies},
      {"dependentRequired", validation, k2020, &C::dependent_required},
      {"dependentSchemas", applicator, k2020, &C::dependent_schemas},
      {"else", applicator, kBoth, &C::otherwise},
      {"enum", validation, kBoth, &C::enumeration, Plain::scalars},
      {"exclusiveMaximum", validation, kBoth, &C::exclusive_maximum, Plain::number},
      {"exclusiveMinimum", validation, kBoth, &C::exclusive_minimum, Plain::number},
      {"format", core, kBoth, &C::format, Plain::text},
      {"if", applicator, kBoth, &C::condition},
      {"items", applicator, kBoth, &C::items, Plain::schema},
      {"maxContains", validation, k2020, &C::max_contains},
      {"maxItems", validation, kBoth, &C::max_items, Plain::count},
      {"maxLength", validation, kBoth, &C::max_length, Plain::count},
      {"maxProperties", validation, kBoth, &C::max_properties, Plain::count},
      {"maximum", validation, kBoth, &C::maximum, Plain::number},
      {"minContains", validation, k2020, &C::min_contains},
      {"minItems", validation, kBoth, &C::min_items, Plain::count},
      {"minLength", validation, kBoth, &C::min_length, Plain::count},
      {"minProperties", validation, kBoth, &C::min_properties, Plain::count},
      {"minimum", validation, kBoth, &C::minimum, Plain::number},
      {"multipleOf", validation, kBoth, &C::multiple_of},
      {"not", applicator, kBoth, &C::negated, Plain::schema},
      {"oneOf", applicator, kBoth, &C::one_of, Plain::schema_list},
      {"pattern", validation, kBoth, &C::text_pattern},
      {"patternProperties", applicator, kBoth, &C::pattern_properties},
      {"prefixItems", applicator, k2020, &C::prefix_items},
      {"properties", applicator, kBoth, &C::properties, Plain::schemas},
      {"propertyNames", applicator, kBoth, &C::property_names},
      {"required", validation, kBoth, &C::required, Plain::names},
      {"then", applicator, kBoth, &C::then},
      {"type", validation, kBoth, &C::types, Plain::types},
      {"unevaluatedItems", unevaluated, k2020, &C::unevaluated_items},
      {"unevaluatedProperties", unevaluated, k2020, &C::unevaluated_properties},
      {"uniqueItems", validation, kBoth, &C::unique_items, Plain::flag},
  };
  static_assert(std::ranges::is_sorted(kKeywords, {}, &Keyword::name));
  const auto* at = std::ranges::lower_bound(kKeywords, name, {}, &Keyword::name);
  return at != std::end(kKeywords) && at->name == name ? at : nullptr;
}

// `bytes_left` bounds both the schema that is examined and the memory that compiling it would take.
bool Compiler::is_plain(const Object& schema, std::size_t& bytes_left) {
  return std::ranges::all_of(schema, [&](const auto& member) {
    std::string_view name(member.key().data(), member.key().size());
    const Value& value = member.value();
    if (!spend(bytes_left, name.size())) return false;
    if (name == "$schema") {
      return value.is_string() && find_dialect(view(value.get_string()), nullptr);
    }
    const Keyword* keyword = find_keyword(name);
    return !name.starts_with('$') &&
           is_plain(keyword ? keyword->plain : Plain::scalar, value, bytes_left);
  });
}

bool Compiler::is_plain(Plain kind, const Value& value, std::size_t& bytes_left) {
  auto each_is = [&](Plain inner) {
    const Array* list = value.if_array();
    return list && std::ranges::all_of(
                       *list, [&](const Value& item) { return is_plain(inner, item, bytes_left); });
  };
  if (!spend(bytes_left, value.is_string() ? value.get_string().size() : 0)) return false;
  switch (kind) {
    case Plain::unknown: return false;
    case Plain::scalar: return !value.is_structured();
    case Plain::text: return value.is_string();
    case Plain::flag: return value.is_bool();
    case Plain::count: return value.is_uint64() || (value.is_int64() && value.get_int64() >= 0);
    case Plain::number: return value.is_number();
    case Plain::types: return is_type_name(value);
    case Plain::names: return each_is(Plain::text);
    case Plain::scalars: return each_is(Plain::scalar);
    case Plain::schema:
      return value.is_bool() || (value.is_object() && is_plain(value.get_object(), bytes_left));
    case Plain::schemas:
      return value.is_object() && std::ranges::all_of(value.get_object(), [&](const auto& member) {
               return spend(bytes_left, member.key().size()) &&
                      is_plain(Plain::schema, member.value(), bytes_left);
             });
    case Plain::schema_list: return each_is(Plain::schema) && !value.get_array().empty();
  }
  return false;
}

bool Compiler::applies(const Keyword& keyword, const Dialect& dialect) const {
  if (!(keyword.drafts & static_cast<unsigned>(dialect.draft))) return false;
  switch (keyword.vocabulary) {
    case Vocabulary::core: return true;
    case Vocabulary::applicator: return dialect.applicators;
    case Vocabulary::unevaluated: return dialect.unevaluated;
    case Vocabulary::validation: return dialect.validation;
  }
  return true;
}

void Compiler::compile_keywords(const Object& schema) {
  schema_ = &schema;
  properties_.clear();
  const Value* reference = schema.if_contains("$ref");
  if (reference && dialect().draft == Draft::seven) {
    // In draft 7 a reference hides the keywords beside it.
    keyword_ = "$ref";
    ref(*reference);
    return;
  }
  for (const auto& member : schema) {
    keyword_ = {member.key().data(), member.key().size()};
    const Keyword* keyword = find_keyword(keyword_);
    if (keyword && applies(*keyword, dialect())) (this->*keyword->handler)(member.value());
    if (error_) return;
  }
  if (!properties_.empty()) keep_properties();
  bool ruled = node_->types != type::kAny || node_->constants || node_->number || node_->string ||
               node_->array || node_->object || node_->combination || node_->unevaluated_items ||
               node_->unevaluated_properties;
  if (!ruled) node_->verdict = Verdict::always;
}

Combination& Compiler::combination() {
  if (!node_->combination) node_->combination = std::make_unique<Combination>();
  return *node_->combination;
}

ArrayRules& Compiler::array_rules() {
  if (!node_->array) node_->array = std::make_unique<ArrayRules>();
  return *node_->array;
}

ObjectRules& Compiler::object_rules() {
  if (!node_->object) node_->object = std::make_unique<ObjectRules>();
  return *node_->object;
}

Property& Compiler::add_property(std::string_view name) {
  auto order = static_cast<std::uint32_t>(properties_.size());
  return properties_.emplace_back(Property{.name = std::string(name), .order = order});
}

// Sorts the properties, and merges those that "properties" and "required" both mention.
void Compiler::keep_properties() {
  std::ranges::sort(properties_, [](const Property& a, const Property& b) {
    return std::tuple(a.name.size(), std::string_view(a.name), a.order) <
           std::tuple(b.name.size(), std::string_view(b.name), b.order);
  });
  ObjectRules& rules = object_rules();
  rules.properties.reserve(properties_.size());
  for (Property& property : properties_) {
    if (rules.properties.empty() || rules.properties.back().name != property.name) {
      rules.properties.push_back(std::move(property));
      continue;
    }
    Property& known = rules.properties.back();
    if (property.node) known.node = property.node;
    known.required |= property.required;
  }
  rules.required_count =
      static_cast<std::size_t>(std::ranges::count(rules.properties, true, &Property::required));
}

void Compiler::definitions(const Value& value) {
  subschema_map(value);
}

void Compiler::ref(const Value& value) {
  auto to = target(value);
  auto place = to ? find(*to) : std::nullopt;
  if (place) combination().ref = place->node;
}

void Compiler::dynamic_ref(const Value& value) {
  auto to = target(value);
  auto place = to ? find(*to) : std::nullopt;
  if (!place) return;
  combination().dynamic_ref = place->node;
  const auto& anchors = index_.resources()[place->node->resource].dynamic_anchors;
  if (!anchors.contains(to->fragment)) return;
  auto next = static_cast<std::uint32_t>(anchors_.size());
  combination().dynamic_anchor = anchors_.emplace(to->fragment, next).first->second;
}

void Compiler::all_of(const Value& value) {
  combination().all_of = subschema_list(value);
}
void Compiler::any_of(const Value& value) {
  combination().any_of = alternatives(value);
}
void Compiler::one_of(const Value& value) {
  combination().one_of = alternatives(value);
}

// An empty list is a mistake: it would be a schema that no value fits.
std::vector<const Node*> Compiler::alternatives(const Value& value) {
  auto out = subschema_list(value);
  if (out.empty()) fail("", "expected at least one schema");
  return out;
}

void Compiler::negated(const Value& value) {
  combination().negated = subschema(value, "");
}
void Compiler::condition(const Value& value) {
  combination().condition = subschema(value, "");
}
void Compiler::then(const Value& value) {
  const Node* node = subschema(value, "");
  if (schema_->contains("if")) combination().then = node;
}
void Compiler::otherwise(const Value& value) {
  const Node* node = subschema(value, "");
  if (schema_->contains("if")) combination().otherwise = node;
}

void Compiler::properties(const Value& value) {
  if (!value.is_object()) return expected("", "an object of schemas", value);
  properties_.reserve(properties_.size() + value.get_object().size());
  for (const auto& member : value.get_object()) {
    std::string_view name(member.key().data(), member.key().size());
    add_property(name).node = subschema_at(member.value(), name);
  }
}

void Compiler::pattern_properties(const Value& value) {
  for (auto& [text, node] : subschema_map(value)) {
    const Pattern* compiled = pattern(text, child_pointer("", text));
    if (error_) return;
    if (compiled) {
      object_rules().patterns.emplace_back(compiled, node);
    } else {
      object_rules().has_unchecked_patterns = true;
    }
  }
}

void Compiler::additional_properties(const Value& value) {
  object_rules().additional = subschema(value, "");
}

void Compiler::property_names(const Value& value) {
  object_rules().names = subschema(value, "");
}

void Compiler::dependent_schemas(const Value& value) {
  object_rules().dependent_schemas = subschema_map(value);
}

// Draft 7 allows both schemas and lists of names in one keyword.
void Compiler::dependencies(const Value& value) {
  if (!value.is_object()) return expected("", "an object of schemas and lists of names", value);
  object_rules().dependency_keyword = "dependencies";
  for (const auto& member : value.get_object()) {
    std::string key(member.key());
    std::string suffix = child_pointer("", key);
    if (member.value().is_array()) {
      object_rules().dependent_names.emplace_back(key, names(member.value(), suffix));
    } else {
      object_rules().dependent_schemas.emplace_back(key, subschema(member.value(), suffix));
    }
  }
}

void Compiler::prefix_items(const Value& value) {
  array_rules().prefix = subschema_list(value);
}

void Compiler::items(const Value& value) {
  if (dialect().draft == Draft::seven && value.is_array()) return prefix_items(value);
  array_rules().rest = subschema(value, "");
}

void Compiler::additional_items(const Value& value) {
  const Node* node = subschema(value, "");
  const Value* items = schema_->if_contains("items");
  if (!items || !items->is_array()) return;
  array_rules().rest = node;
  array_rules().rest_keyword = "additionalItems";
}

void Compiler::contains(const Value& value) {
  array_rules().contains = subschema(value, "");
}

void Compiler::unevaluated_items(const Value& value) {
  node_->unevaluated_items = subschema(value, "");
}

void Compiler::unevaluated_properties(const Value& value) {
  node_->unevaluated_properties = subschema(value, "");
}

}  // namespace errand::json::schema
