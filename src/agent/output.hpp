#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/state.hpp"
#include "json/schema_cache.hpp"

namespace errand::agent {

// A longer answer is not looked at: it does not fit.
constexpr std::size_t kOutputBytesMax = 2U * 1024 * 1024;
// Of what is said about an answer that does not fit; the rest is left out.
constexpr std::size_t kMistakesBytesMax = 8U * 1024;

// What keeps the text of the last turn from being JSON of the run's output schema: a line for each
// mistake, with its JSON pointer. Nothing for a text that fits, or without a schema. It follows
// from the state alone, so that a restarted process decides alike.
std::optional<std::string> output_mistakes(const State& state, json::SchemaCache& schemas);

// What the model is told about them, as if by the user.
std::string repair_prompt(std::string_view mistakes);

}  // namespace errand::agent
