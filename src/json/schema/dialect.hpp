#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "json/schema.hpp"
#include "json/schema/node.hpp"
#include "json/value.hpp"

namespace errand::json::schema {

enum class Draft : std::uint8_t { seven = 1, v2020_12 = 2 };

// Which keywords have a meaning in a schema.
struct Dialect {
  Draft draft = Draft::v2020_12;
  bool applicators = true;
  bool unevaluated = true;
  bool validation = true;
  bool checks_formats = false;
};

// The dialect that the "$schema" of a resource names: one of the two drafts, or a metaschema among
// the documents, with its vocabularies. unsupported: any other.
Result<Dialect> find_dialect(std::string_view uri, const SchemaDocuments* documents);

// Calls `visit` with each subschema of a schema and the path to it: the keyword, and a key or an
// index where there is one. Does not go into the subschemas.
struct SubschemaPath {
  std::string_view keyword;
  Shape shape = Shape::schema;
  std::string_view key;
  std::size_t index = 0;
};
using VisitSubschema = std::function<void(const SubschemaPath&, const Value&)>;
void for_each_subschema(const Object& schema, Draft draft, const VisitSubschema& visit);

// An object or a boolean.
inline bool is_schema(const Value& value) {
  return value.is_object() || value.is_bool();
}

}  // namespace errand::json::schema
