#pragma once

#include <string>
#include <string_view>

#include "agent/state.hpp"
#include "base/result.hpp"
#include "json/value.hpp"

namespace errand::agent {

// Longer arguments are refused like malformed ones; clients could not read the event.
constexpr std::size_t kArgumentsBytesMax = 2U * 1024 * 1024;

// The arguments a model wrote, as an object. invalid_argument: they are none.
Result<json::Object> parse_arguments(std::string_view raw);

// What the model is told of arguments that are none: a JSON text with code, message and pointer.
std::string invalid_arguments_text(const Error& error);

// The arguments as JSON text for events; {} stands in for what is no object.
std::string shown_arguments(const CallState& call);

}  // namespace errand::agent
