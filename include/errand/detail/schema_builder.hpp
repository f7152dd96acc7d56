#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <errand/detail/reader.hpp>

namespace errand::ERRAND_V1::detail {

class SchemaBuilder;

// Which of the options of ERRAND_DESCRIBE make sense.
enum class Shape : unsigned char { number, text, list, other };

// A C++ type for the compiled half. Constant, one per type.
struct TypeOps {
  bool (*read)(Reader& reader, const Json& json, void* out);
  Json (*write)(const void* value);
  Json (*schema)(SchemaBuilder& builder);
  Json (*zero)();       // of T{}
  bool may_be_missing;  // optional and pointers
  bool is_constant;     // OneOf with one value
};

enum class Presence : unsigned char { by_type, required, defaulted };

// One member of a struct.
struct Field {
  std::string name;  // in JSON
  const TypeOps* ops = nullptr;
  std::size_t offset = 0;
  std::string member;  // in C++
  std::string description = {};
  JsonObject keywords = {};
  Presence presence = Presence::by_type;
  // Set by finish().
  bool required = true;
  bool has_default = false;
  Json default_value = {};
};

// A struct. Built once per type, then constant.
struct ObjectInfo {
  std::string type_name;
  std::vector<Field> fields;

  // Decides which members are required, by the members of `value`, which is T{}.
  void finish(const void* value);
  const Field* find(std::string_view name) const;
};

bool read_object(Reader& reader, const Json& json, const ObjectInfo& info, void* out);
Json write_object(const ObjectInfo& info, const void* value);
Json object_schema(SchemaBuilder& builder, const ObjectInfo& info);

// An enum. Built once per type, then constant.
struct EnumInfo {
  struct Entry {
    std::string name;
    std::uint64_t bits = 0;
    std::string description = {};
  };
  std::string type_name;
  std::vector<Entry> entries;
};

bool read_enum(Reader& reader, const Json& json, const EnumInfo& info, std::uint64_t& bits);
// Throws an Error (invalid_argument) for a value without a name.
Json write_enum(const EnumInfo& info, std::uint64_t bits);
const std::string& enum_name(const EnumInfo& info, std::uint64_t bits);
Json enum_schema(const EnumInfo& info);

// A variant. Built once per type, then constant. The alternatives are tried in order, or told apart
// by a member that is a constant in each of them.
struct Alternatives {
  struct One {
    const TypeOps* ops;
    const ObjectInfo* object;  // null if the alternative is no struct
    bool (*read)(Reader& reader, const Json& json, void* variant);
  };
  std::vector<One> list;
  // Set by finish() where the alternatives have a tag: its name, and its value in each of them.
  std::string tag = {};
  std::vector<Json> tags = {};

  void finish();
};

bool read_alternatives(Reader& reader, const Json& json, const Alternatives& alternatives,
                       void* variant);
Json alternatives_schema(SchemaBuilder& builder, const Alternatives& alternatives);

// Builds one schema. Structs that are used more than once, or within themselves, are under "$defs".
class SchemaBuilder final {
 public:
  SchemaBuilder();
  ~SchemaBuilder();
  SchemaBuilder(const SchemaBuilder&) = delete;
  SchemaBuilder& operator=(const SchemaBuilder&) = delete;

  Json build(const TypeOps& root);
  Json object(const ObjectInfo& info);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

Json integer_schema(IntegerRange range);
Json type_schema(std::string_view type);
Json list_schema(Json items);
Json fixed_list_schema(Json items, std::size_t size);
Json set_schema(Json items);
Json map_schema(Json values);
Json integer_map_schema(Json values);
Json enum_map_schema(Json values, const EnumInfo& info);
Json tuple_schema(std::vector<Json> items);
Json nullable_schema(Json schema);
Json literals_schema(JsonArray literals);
bool read_one_of_failed(Reader& reader, const Json& json, const JsonArray& literals);

// A schema with what checks values against it. Constant.
class CheckedSchema final {
 public:
  // Throws an Error (invalid_argument) if the schema is wrong; pointer() says where.
  explicit CheckedSchema(Json schema);
  explicit CheckedSchema(const TypeOps& ops);
  ~CheckedSchema();
  CheckedSchema(const CheckedSchema&) = delete;
  CheckedSchema& operator=(const CheckedSchema&) = delete;

  const Json& json() const;

  // The first error.
  std::optional<Error> check(const Json& value) const;
  // A line for each error, "/days: expected an integer, got a string"; empty if the value fits.
  std::string describe_errors(const Json& value) const;

  // Converts texts to what the schema asks for where nothing is lost: "3" to 3, "true" to true,
  // the JSON of an array or object to the value.
  Json coerce(Json value) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

// Guards the writing of pointers against cycles. Throws an Error (invalid_argument) beyond
// kDepthMax pointers within each other.
class WriteDepth final {
 public:
  WriteDepth();
  ~WriteDepth();
  WriteDepth(const WriteDepth&) = delete;
  WriteDepth& operator=(const WriteDepth&) = delete;
};

}  // namespace errand::ERRAND_V1::detail
