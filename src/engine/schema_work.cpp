#include "engine/schema_work.hpp"

#include <algorithm>
#include <utility>

#include "agent/fold/arguments.hpp"
#include "base/limit_met.hpp"
#include "base/text.hpp"
#include "json/write.hpp"
#include "tool/input_schema.hpp"

namespace errand::engine {
namespace {

Error too_many_patterns() {
  return Error(ErrorCode::invalid_argument,
               cat("the schemas of the tools have more than ", kToolPatternsMax, " patterns"))
      .pointer("/tools")
      .reason("too_complex")
      .limit("toolPatterns", static_cast<std::int64_t>(kToolPatternsMax));
}

bool gave_up(const std::vector<json::SchemaError>& errors) {
  return std::any_of(errors.begin(), errors.end(), [](const json::SchemaError& error) {
    return error.kind == json::SchemaErrorKind::too_much_work;
  });
}

Result<void> compile_all(json::SchemaCache& cache, const std::vector<SchemaPtr>& schemas) {
  std::size_t patterns = 0;
  for (const SchemaPtr& schema : schemas) {
    auto compiled = compile_input_schema(cache, *schema);
    if (!compiled) return {};
    patterns += (*compiled)->patterns();
    if (patterns > kToolPatternsMax) return too_many_patterns();
  }
  return {};
}

}  // namespace

Task<Result<void>> compile_aside(BlockingPool* pool, SharedSchemas cache,
                                 std::vector<SchemaPtr> schemas) {
  std::erase_if(schemas,
                [](const SchemaPtr& schema) { return !schema || json::is_plain_schema(*schema); });
  if (schemas.empty()) co_return Result<void>();
  auto compile = [cache, all = std::move(schemas)] { return compile_all(*cache, all); };
  if (!pool) co_return compile();
  auto compiled = co_await pool->run(std::move(compile));
  co_return compiled;
}

Task<Result<json::CompiledSchemaPtr>> compile_aside(BlockingPool* pool, SharedSchemas cache,
                                                    SchemaPtr schema) {
  auto compile = [cache, schema] { return compile_input_schema(*cache, *schema); };
  if (!pool || json::is_plain_schema(*schema)) co_return compile();
  auto compiled = co_await pool->run(std::move(compile));
  co_return compiled;
}

Task<Result<std::vector<json::SchemaError>>> check_arguments(
    BlockingPool* pool, SharedSchemas cache, SchemaPtr schema,
    std::shared_ptr<const json::Value> arguments) {
  auto check = [cache, schema, arguments]() -> Result<std::vector<json::SchemaError>> {
    ERRAND_TRY(auto compiled, compile_input_schema(*cache, schema));
    const std::size_t bytes = json::write(*arguments).size();
    if (bytes > agent::kArgumentsBytesMax) {
      return limit_met(cat("the arguments are longer than ", agent::kArgumentsBytesMax, " bytes"),
                       "/arguments", "argumentBytes", agent::kArgumentsBytesMax);
    }
    const std::int64_t steps = std::min(json::fair_work(bytes), json::kSchemaWorkMax);
    auto errors = compiled->validate(*arguments, steps);
    if (!gave_up(errors)) return errors;
    return Error(ErrorCode::invalid_argument, errors.front().message)
        .pointer("/arguments")
        .reason("too_complex")
        .limit("validationSteps", steps);
  };
  if (!pool || is_quick_check(*cache, schema, *arguments)) co_return check();
  auto wrong = co_await pool->run(std::move(check));
  co_return wrong;
}

}  // namespace errand::engine
