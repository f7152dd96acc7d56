#pragma once

#include <memory>
#include <vector>

#include "async/blocking_pool.hpp"
#include "base/result.hpp"
#include "tool/schema_work.hpp"

namespace errand::engine {

// Compiles schemas that are not plain, so that the cache has each schema, or its error, when it is
// needed; null schemas are left out. invalid_argument with the reason "too_complex": together they
// have more than kToolPatternsMax patterns. Other errors are reported when the schema is used.
Task<Result<void>> compile_aside(BlockingPool* pool, SharedSchemas cache,
                                 std::vector<SchemaPtr> schemas);

// One schema. The errors are the same as of compile_input_schema.
Task<Result<json::CompiledSchemaPtr>> compile_aside(BlockingPool* pool, SharedSchemas cache,
                                                    SchemaPtr schema);

// What is wrong with an object of arguments that a client sends for a tool. invalid_argument: they
// are longer than a model's may be, or the schema cannot be used. With the reason "too_complex": to
// check them takes more steps than are fair for their size, and nothing is known of them.
Task<Result<std::vector<json::SchemaError>>> check_arguments(
    BlockingPool* pool, SharedSchemas cache, SchemaPtr schema,
    std::shared_ptr<const json::Value> arguments);

}  // namespace errand::engine
