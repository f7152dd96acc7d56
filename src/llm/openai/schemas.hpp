#pragma once

#include <optional>
#include <string_view>

#include "llm/provider.hpp"

namespace errand::llm {

// Whether OpenAI takes the schema with "strict": every object closed with all its properties
// required, local references only, and none of the words its grammar lacks.
bool fits_strict_subset(const json::Object& schema);

// A tool's schema as an object's, with "properties" even if there are none. String limits beyond
// `length_max` are left out.
json::Object parameters_of(const ToolDecl& tool, std::optional<std::int64_t> length_max = {});
// Whether that is the tool's own schema, as long as no limits are left out.
bool is_sent_as_it_is(const json::Object& schema);

// 0 is `effort_min`; else "low", "medium" or "high".
std::string_view effort_of(int level, std::string_view effort_min);

// The id a call and its result are sent with.
std::string_view wire_id(std::string_view provider_id, const ToolUseId& id);

// A result as text: a failure says so, because there is no field for it.
std::string result_text(const ToolResultPart& result);

}  // namespace errand::llm
