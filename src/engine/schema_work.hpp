#pragma once

#include <memory>
#include <vector>

#include "async/blocking_pool.hpp"
#include "base/result.hpp"
#include "json/schema_cache.hpp"
#include "run/tools/tool_decl.hpp"

namespace errand::engine {

// Work with schemas of strangers that may take long. It is done on the pool, which outlives the
// task; without one (nullptr) at home. The cache is shared with the pool's threads.
using SharedSchemas = std::shared_ptr<json::SchemaCache>;

// The patterns of the schemas of a run's tools; some take a millisecond to compile.
constexpr std::size_t kToolPatternsMax = 512;

// Compiles schemas that are not plain, so that whoever needs one finds it, or its error, in the
// cache; null ones are left out. invalid_argument with the reason "too_complex": together they have
// more than kToolPatternsMax patterns. What else is wrong is told by whoever needs the schema.
Task<Result<void>> compile_aside(BlockingPool* pool, SharedSchemas cache,
                                 std::vector<SchemaPtr> schemas);

// One schema. The errors are those of compile_input_schema.
Task<Result<json::CompiledSchemaPtr>> compile_aside(BlockingPool* pool, SharedSchemas cache,
                                                    SchemaPtr schema);

// What is wrong with arguments that a client sends for a tool. invalid_argument: they are longer
// than a model's may be, or the schema cannot be used.
Task<Result<std::vector<json::SchemaError>>> check_arguments(
    BlockingPool* pool, SharedSchemas cache, SchemaPtr schema,
    std::shared_ptr<const json::Object> arguments);

}  // namespace errand::engine
