#pragma once

#include <memory>
#include <vector>

#include "async/blocking_pool.hpp"
#include "base/result.hpp"
#include "json/schema_cache.hpp"
#include "run/tools/tool_decl.hpp"

namespace errand {

// Work with schemas of strangers that may take long. It is done on the pool, which outlives the
// task; without one (nullptr) at home. The cache is shared with the pool's threads.
using SharedSchemas = std::shared_ptr<json::SchemaCache>;
struct SchemaWork {
  BlockingPool* pool = nullptr;
  SharedSchemas cache = std::make_shared<json::SchemaCache>();
};

// The patterns of the schemas of a run's tools, or of those that a server lists; some take a
// millisecond to compile.
constexpr std::size_t kToolPatternsMax = 512;

// The same tools in the same order, with schemas that can be used. Compiles what is not plain, and
// so belongs on the pool.
// - An input schema that vendors would refuse, because its root is no object or it makes no sense,
//   becomes one that takes any object: one such tool must not fail the whole run. So does one with
//   patterns, once the schemas before it have kToolPatternsMax of them.
// - An output schema like that is left out.
std::vector<ToolDecl> usable_schemas(json::SchemaCache& cache, std::vector<ToolDecl> tools);
// The same on the pool. unavailable: it takes no more calls.
Task<Result<std::vector<ToolDecl>>> with_usable_schemas(SchemaWork work,
                                                        std::vector<ToolDecl> tools);

// Whether checking such a value takes about as long as handing it to the pool and back: the schema
// is plain, and the value is short.
bool is_quick_check(json::SchemaCache& cache, const SchemaPtr& schema, const json::Value& value);

// What is wrong with a value, in as many steps as are fair for its size. Nothing for a schema that
// does not compile. unavailable: the pool takes no more calls.
Task<Result<std::vector<json::SchemaError>>> check_aside(SchemaWork work, SchemaPtr schema,
                                                         std::shared_ptr<const json::Value> value);

}  // namespace errand
