#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "json/schema/equality.hpp"
#include "json/schema/format.hpp"
#include "json/schema/pattern.hpp"
#include "json/value.hpp"

namespace errand::json::schema {

struct Node;

// How the subschemas lie in the value of a keyword.
enum class Shape : std::uint8_t { schema, list, map };

// Sets of JSON types; an integer is also a number.
using Types = std::uint8_t;
namespace type {
constexpr Types kNull = 1, kBoolean = 2, kInteger = 4, kNumber = 8, kString = 16, kArray = 32,
                kObject = 64, kAny = 127;
}

// An inclusive range of a count.
struct CountRange {
  std::uint64_t min = 0;
  std::uint64_t max = UINT64_MAX;

  bool contains(std::uint64_t count) const { return count >= min && count <= max; }
};

struct NumberRules {
  std::optional<Value> minimum;
  std::optional<Value> maximum;
  std::optional<Value> exclusive_minimum;
  std::optional<Value> exclusive_maximum;
  std::optional<Value> multiple_of;
};

struct StringRules {
  CountRange length;  // in code points
  const Pattern* pattern = nullptr;
  std::optional<Format> format;  // only one that is to be checked
};

struct ArrayRules {
  CountRange size;
  bool unique = false;
  std::vector<const Node*> prefix;
  const Node* rest = nullptr;  // for the items behind the prefix
  const char* rest_keyword = "items";
  const Node* contains = nullptr;
  CountRange contained{.min = 1};
};

// A name that "properties" or "required" mentions. Sorted by length and then by text, which finds a
// name faster than by text alone and cannot be made slow by a choice of names.
struct Property {
  std::string name;
  const Node* node = nullptr;  // null if it is only required
  bool required = false;
  std::uint32_t order = 0;  // in which the schema mentions it
};

struct ObjectRules {
  CountRange size;
  std::vector<Property> properties;
  std::size_t required_count = 0;
  std::vector<std::pair<const Pattern*, const Node*>> patterns;
  bool has_unchecked_patterns = false;  // any name may match them: none is an additional one
  const Node* additional = nullptr;
  const Node* names = nullptr;
  std::vector<std::pair<std::string, std::vector<std::string>>> dependent_names;
  std::vector<std::pair<std::string, const Node*>> dependent_schemas;
  const char* dependency_keyword = "dependentRequired";

  const Property* find(std::string_view name) const;
};

// What applies other schemas to the same value.
struct Combination {
  const Node* ref = nullptr;
  const Node* dynamic_ref = nullptr;            // where it leads without any dynamic scope
  std::optional<std::uint32_t> dynamic_anchor;  // what to look for in the scope, by index
  std::vector<const Node*> all_of;
  std::vector<const Node*> any_of;
  std::vector<const Node*> one_of;
  const Node* negated = nullptr;
  const Node* condition = nullptr;
  const Node* then = nullptr;
  const Node* otherwise = nullptr;
};

enum class Verdict : std::uint8_t { by_rules, always, never };

// The way from a subschema to one within it: a keyword, and a key or an index where there is one.
// Pointers are made of it when they are asked for, which they rarely are.
struct NodeStep {
  std::string_view keyword;  // of the table of keywords
  Shape shape = Shape::schema;
  std::uint32_t index = 0;
  std::string key;  // without a keyword, a piece of a pointer that leads past unknown ones
};

// One subschema. Rules that it does not have take no room.
struct Node {
  // Where it is.
  const Node* parent = nullptr;
  NodeStep step;
  std::uint32_t resource = 0;

  Verdict verdict = Verdict::by_rules;
  Types types = type::kAny;
  std::unique_ptr<const Constants> constants;  // of "enum" or "const"
  const char* constants_keyword = "enum";
  std::unique_ptr<const Constants> more_constants;  // of "const" beside "enum"
  std::unique_ptr<NumberRules> number;
  std::unique_ptr<StringRules> string;
  std::unique_ptr<ArrayRules> array;
  std::unique_ptr<ObjectRules> object;
  std::unique_ptr<Combination> combination;
  const Node* unevaluated_items = nullptr;
  const Node* unevaluated_properties = nullptr;
};

// A schema with an identity of its own, which a dynamic scope is made of.
struct ResourceInfo {
  std::string document;  // uri of the document it is in; empty for the schema itself
  std::vector<std::pair<std::uint32_t, const Node*>> dynamic_anchors;
};

// A whole compiled schema.
struct Program {
  std::deque<Node> nodes;  // stable addresses
  std::vector<std::unique_ptr<const Pattern>> patterns;
  std::vector<ResourceInfo> resources;
  const Node* root = nullptr;
  std::int64_t work_max = 0;

  // "/properties/days" or "https://example.com/a#/properties/days".
  std::string pointer(const Node& node) const;
};

}  // namespace errand::json::schema
