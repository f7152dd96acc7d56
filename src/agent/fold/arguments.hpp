#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/fold/state.hpp"
#include "base/result.hpp"
#include "json/schema_cache.hpp"
#include "json/value.hpp"

namespace errand::agent {

// Longer arguments are refused like malformed ones; clients could not read the event.
constexpr std::size_t kArgumentsBytesMax = 2U * 1024 * 1024;

// The arguments a model wrote, as an object. invalid_argument: they are none.
Result<json::Object> parse_arguments(std::string_view raw);

// What the model gets as the result of a call whose arguments are not JSON, or do not fit the
// tool's schema: a JSON text with code, message and errors, each with its pointer. Empty for
// correct arguments, and for an object that the tool checks itself.
std::optional<std::string> invalid_arguments_text(const CallState& call,
                                                  json::SchemaCache& schemas);

// The arguments as JSON text for events; {} stands in for anything but an object.
std::string shown_arguments(const CallState& call);

}  // namespace errand::agent
