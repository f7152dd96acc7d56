#pragma once

#include <string_view>

#include "llm/anthropic/anthropic_provider.hpp"
#include "llm/gemini/gemini_provider.hpp"

namespace errand::host {

// How vendors' models are made to think, by their names: no vendor says it in a list of models. A
// name that nobody knows is taken for a model newer than this table.

// The least effort that a model of OpenAI's, or one with open weights, knows: "none", "minimal" or
// "low". Empty: it takes no effort at all, and refuses to be asked for one.
std::string_view lowest_effort(std::string_view model);

llm::AnthropicThinking anthropic_thinking(std::string_view model);

// Sets the fields of thinking and of signatures for the options' model.
void set_thinking(llm::GeminiOptions& options);

}  // namespace errand::host
