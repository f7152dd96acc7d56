#pragma once

#include "base/result.hpp"
#include "json/schema_cache.hpp"
#include "json/value.hpp"
#include "run/tools/tool_decl.hpp"

namespace errand {

// The schema of a tool's arguments, or of an answer, ready to check them; shared by all that have
// the same one.
// "$schema" may name older drafts than those that are compiled: 4 and 6 are read as draft 7,
// 2019-09 as 2020-12. What only those drafts know (a boolean "exclusiveMaximum", "$recursiveRef")
// is then a mistake or without effect.
// invalid_argument: the schema cannot be used; the pointer into it says where. With the reason
//   "too_complex": it is past a limit, which the error names.
Result<json::CompiledSchemaPtr> compile_input_schema(json::SchemaCache& cache,
                                                     const json::Object& schema);
// The same for a schema that is checked against often: see SchemaCache::get.
Result<json::CompiledSchemaPtr> compile_input_schema(json::SchemaCache& cache,
                                                     const SchemaPtr& schema);

}  // namespace errand
