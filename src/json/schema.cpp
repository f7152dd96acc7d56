#include "json/schema.hpp"

#include "base/text.hpp"
#include "json/schema/compiler.hpp"
#include "json/schema/evaluator.hpp"
#include "json/schema/pattern.hpp"

namespace errand::json {

void SchemaDocuments::add(std::string_view uri, Value document) {
  documents_.insert_or_assign(std::string(schema::without_fragment(uri)), std::move(document));
}

const Value* SchemaDocuments::find(std::string_view uri) const {
  auto at = documents_.find(schema::without_fragment(uri));
  return at == documents_.end() ? nullptr : &at->second;
}

std::string describe(const std::vector<SchemaError>& errors) {
  std::string out;
  for (const SchemaError& error : errors) {
    if (!out.empty()) out.push_back('\n');
    if (!error.pointer.empty()) append(out, error.pointer, ": ");
    out.append(error.message);
  }
  return out;
}

CompiledSchema::CompiledSchema(std::unique_ptr<const schema::Program> program, std::size_t bytes)
    : program_(std::move(program)), bytes_(bytes) {}

CompiledSchema::~CompiledSchema() = default;

std::size_t CompiledSchema::patterns() const {
  return program_->patterns.size();
}

bool CompiledSchema::accepts(const Value& value) const {
  return schema::Evaluator(*program_, nullptr, kSchemaWorkMax).check(value);
}

std::vector<SchemaError> CompiledSchema::validate(const Value& value, std::int64_t work_max) const {
  schema::Evaluator quick(*program_, nullptr, work_max);
  if (quick.check(value)) return {};
  schema::Report report;
  schema::Evaluator thorough(*program_, &report, work_max);
  if (!quick.gave_up()) thorough.check(value);
  std::vector<SchemaError> errors = std::move(report).take();
  if (errors.empty()) {
    errors.push_back({.message = "checking this value against its schema takes too much work: make "
                                 "it smaller or less deeply nested",
                      .kind = SchemaErrorKind::too_much_work});
  }
  return errors;
}

namespace {

Result<CompiledSchemaPtr> compile(const schema::Source& source, const CompileOptions& options) {
  schema::Compiler compiler(options);
  ERRAND_TRY(auto program, compiler.run(source));
  return std::make_shared<const CompiledSchema>(std::move(program), compiler.bytes());
}

}  // namespace

Result<CompiledSchemaPtr> compile_schema(const Value& schema, const CompileOptions& options) {
  if (schema::is_schema(schema)) return compile(schema, options);
  return Error(ErrorCode::invalid_argument,
               cat("expected a schema (an object or a boolean), got ", kind_name(schema)));
}

Result<CompiledSchemaPtr> compile_schema(const Object& schema, const CompileOptions& options) {
  return compile(schema, options);
}

namespace {

void add_unchecked(const Value& value, const std::string& pointer, std::vector<std::string>& out) {
  if (const Array* items = value.if_array()) {
    for (std::size_t i = 0; i < items->size(); ++i) {
      add_unchecked((*items)[i], child_pointer(pointer, i), out);
    }
  }
  const Object* members = value.if_object();
  if (!members) return;
  for (const auto& member : *members) {
    std::string_view key(member.key().data(), member.key().size());
    std::string below = child_pointer(pointer, key);
    const auto* text = key == "pattern" ? member.value().if_string() : nullptr;
    if (text && schema::is_beyond_re2(view(*text))) out.push_back(below);
    const Object* patterns = key == "patternProperties" ? member.value().if_object() : nullptr;
    for (std::size_t i = 0; patterns && i < patterns->size(); ++i) {
      auto name = (patterns->begin() + static_cast<std::ptrdiff_t>(i))->key();
      std::string_view pattern(name.data(), name.size());
      if (schema::is_beyond_re2(pattern)) out.push_back(child_pointer(below, pattern));
    }
    add_unchecked(member.value(), below, out);
  }
}

}  // namespace

std::vector<std::string> unchecked_patterns(const Value& schema) {
  std::vector<std::string> out;
  add_unchecked(schema, "", out);
  return out;
}

bool is_plain_schema(const Object& schema) {
  std::size_t bytes_left = kPlainSchemaBytesMax;
  return schema::Compiler::is_plain(schema, bytes_left);
}

}  // namespace errand::json
