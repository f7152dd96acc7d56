#include "tool/schema_work.hpp"

#include <algorithm>
#include <utility>

#include "async/read_aside.hpp"
#include "json/write.hpp"
#include "run/tools/object_schema.hpp"
#include "tool/input_schema.hpp"

namespace errand {
namespace {

// Whether the schema may hold a pattern. Also true for some that do not, such as one with a
// property called "pattern".
bool may_have_patterns(const json::Value& schema) {
  if (const json::Array* array = schema.if_array()) {
    return std::any_of(array->begin(), array->end(), may_have_patterns);
  }
  const json::Object* object = schema.if_object();
  return object && std::any_of(object->begin(), object->end(), [](const auto& member) {
           const std::string_view key(member.key().data(), member.key().size());
           return key == "pattern" || key == "patternProperties" ||
                  may_have_patterns(member.value());
         });
}

constexpr std::size_t kQuickCheckBytes = 16U * 1024;
constexpr std::size_t kValueBytes = 8;  // per value, besides its text

// Whether the value's text, roughly, is within `left`, which is reduced by it.
bool is_short(const json::Value& value, std::size_t* left);

bool take(std::size_t bytes, std::size_t* left) {
  if (bytes > *left) return false;
  *left -= bytes;
  return true;
}

bool is_short(const json::Object& object, std::size_t* left) {
  return std::all_of(object.begin(), object.end(), [left](const auto& member) {
    return take(member.key().size(), left) && is_short(member.value(), left);
  });
}

bool is_short(const json::Value& value, std::size_t* left) {
  if (!take(kValueBytes, left)) return false;
  if (const json::Object* object = value.if_object()) return is_short(*object, left);
  if (value.is_string()) return take(value.get_string().size(), left);
  const json::Array* array = value.if_array();
  return !array || std::all_of(array->begin(), array->end(),
                               [left](const json::Value& one) { return is_short(one, left); });
}

// Compiles schemas one after another until they have too many patterns.
class Budget final {
 public:
  explicit Budget(json::SchemaCache& cache) : cache_(cache) {}

  // Whether the schema can be used. Returns the compiled schema if it had to be compiled.
  bool accepts(const json::Object& schema, json::CompiledSchemaPtr* compiled) {
    if (json::is_plain_schema(schema)) return true;
    if (patterns_ >= kToolPatternsMax && may_have_patterns(json::Value(schema))) return false;
    auto made = compile_input_schema(cache_, schema);
    if (!made) return false;
    patterns_ += (*made)->patterns();
    *compiled = std::move(*made);
    return true;
  }

 private:
  json::SchemaCache& cache_;
  std::size_t patterns_ = 0;
};

}  // namespace

std::vector<ToolDecl> usable_schemas(json::SchemaCache& cache, std::vector<ToolDecl> tools) {
  Budget budget(cache);
  for (ToolDecl& tool : tools) {
    SchemaPtr input = object_schema(tool.input_schema.get(), tool.input_schema);
    const bool is_usable = input && budget.accepts(*input, &tool.checker);
    tool.input_schema = is_usable ? std::move(input) : arguments_schema(nullptr);
    json::CompiledSchemaPtr compiled;
    if (tool.output_schema && !budget.accepts(*tool.output_schema, &compiled)) {
      tool.output_schema = nullptr;
    }
  }
  return tools;
}

Task<Result<std::vector<ToolDecl>>> with_usable_schemas(SchemaWork work,
                                                        std::vector<ToolDecl> tools) {
  auto make = [cache = work.cache, all = std::move(tools)]() mutable {
    return Result<std::vector<ToolDecl>>(usable_schemas(*cache, std::move(all)));
  };
  auto usable = co_await run_aside(work.pool, std::move(make));
  co_return usable;
}

bool is_quick_check(json::SchemaCache& cache, const SchemaPtr& schema, const json::Value& value) {
  std::size_t left = kQuickCheckBytes;
  return is_short(value, &left) && cache.is_plain(schema);
}

Task<Result<std::vector<json::SchemaError>>> check_aside(SchemaWork work, SchemaPtr schema,
                                                         std::shared_ptr<const json::Value> value) {
  BlockingPool* pool = is_quick_check(*work.cache, schema, *value) ? nullptr : work.pool;
  auto check = [cache = work.cache, schema = std::move(schema),
                value = std::move(value)]() -> Result<std::vector<json::SchemaError>> {
    auto compiled = compile_input_schema(*cache, schema);
    if (!compiled) return std::vector<json::SchemaError>();
    return (*compiled)->validate(*value, json::fair_work(json::write(*value).size()));
  };
  auto wrong = co_await run_aside(pool, std::move(check));
  co_return wrong;
}

}  // namespace errand
