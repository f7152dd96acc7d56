#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/fold/state.hpp"
#include "json/schema_cache.hpp"

namespace errand::agent {

// A longer answer is not checked: it does not fit.
constexpr std::size_t kOutputBytesMax = 2U * 1024 * 1024;
// The list of an answer's mistakes is cut off here.
constexpr std::size_t kMistakesBytesMax = 8U * 1024;

// Why a text does not fit an output schema: a line for each mistake, with its JSON pointer. Nothing
// if the text fits. May take long.
using Mistakes = std::optional<std::string>;
Mistakes output_mistakes(const json::Object& schema, std::string_view text,
                         json::SchemaCache& schemas);

// The same for the text of the last turn and the run's output schema. Nothing without a schema.
// Depends only on the state, so that a restarted process decides the same.
Mistakes output_mistakes(const State& state, json::SchemaCache& schemas);

// The user message that tells the model about these mistakes.
std::string repair_prompt(std::string_view mistakes);

}  // namespace errand::agent
