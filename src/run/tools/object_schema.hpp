#pragma once

#include <memory>

#include "json/value.hpp"
#include "run/tools/tool_decl.hpp"

namespace errand {

// The schema of what is always an object, such as the arguments of a tool, with "type": "object" at
// its root, because vendors accept nothing else there. A root that is a "$ref" is replaced by what
// it refers to; a "$ref" beside other rules moves into "allOf", because both apply. Up to draft 7
// a "$ref" hides the rules beside it, which are dropped. The result accepts the same objects as the
// schema does. It shares the schema if `keeper` owns it, and copies it otherwise.
// nullptr: there is no schema, or its root does not say that it describes an object.
SchemaPtr object_schema(const json::Object* schema, std::shared_ptr<const void> keeper = nullptr);

// The same for the arguments of a tool: where it gives nothing, a schema that accepts any object.
SchemaPtr arguments_schema(const json::Object* schema,
                           std::shared_ptr<const void> keeper = nullptr);

}  // namespace errand
