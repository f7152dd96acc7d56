#include <errand/schema.hpp>
#include <utility>

#include "json/schema.hpp"
#include "sdk/api/coerce.hpp"
#include "sdk/api/values.hpp"

namespace errand::v1::detail {

struct CheckedSchema::Impl {
  Json schema;
  json::CompiledSchemaPtr compiled;
};

namespace {

json::CompiledSchemaPtr compile(const Json& schema) {
  auto compiled = json::compile_schema(to_value(schema));
  if (compiled) return *compiled;
  const ::errand::Error& error = compiled.error();
  throw Error(ErrorCode::invalid_argument, error.message(), error.pointer());
}

}  // namespace

CheckedSchema::CheckedSchema(Json schema) {
  json::CompiledSchemaPtr compiled = compile(schema);
  impl_ = std::make_unique<const Impl>(Impl{std::move(schema), std::move(compiled)});
}

CheckedSchema::CheckedSchema(const TypeOps& ops) : CheckedSchema(SchemaBuilder().build(ops)) {}

CheckedSchema::~CheckedSchema() = default;

const Json& CheckedSchema::json() const {
  return impl_->schema;
}

std::optional<Error> CheckedSchema::check(const Json& value) const {
  auto errors = impl_->compiled->validate(to_value(value));
  if (errors.empty()) return {};
  return Error(ErrorCode::invalid_argument, errors.front().message, errors.front().pointer);
}

std::string CheckedSchema::describe_errors(const Json& value) const {
  return json::describe(impl_->compiled->validate(to_value(value)));
}

Json CheckedSchema::coerce(Json value) const {
  return coerce_to(impl_->schema, std::move(value));
}

bool read_root(const TypeOps& ops, const CheckedSchema& schema, const Json& json,
               ReadOptions options, void* out, std::optional<Error>& error) {
  if (options.coerce) {
    return read_root(ops, schema, schema.coerce(json), ReadOptions{}, out, error);
  }
  Reader reader;
  if (!ops.read(reader, json, out)) {
    error = reader.error();
    return false;
  }
  error = schema.check(json);
  return !error;
}

}  // namespace errand::v1::detail
