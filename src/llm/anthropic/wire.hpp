#pragma once

#include "llm/anthropic/anthropic_provider.hpp"
#include "llm/failure.hpp"

namespace errand::llm {

// What the request and the decoder of one turn agree on.
OutputMechanism anthropic_output(const TurnRequest& request, const AnthropicOptions& options);

// Whether the vendor's own way of structured output takes the schema.
bool fits_anthropic_subset(const json::Object& schema);

// The tokens to think with, for a level above 0: about 512 at 30 and 8000 at 80, but never less
// than kThinkingTokensMin. Nothing if the limit of the answer leaves no room.
std::optional<std::int64_t> thinking_budget(int level, std::int64_t output_tokens_max);

// `status` is 0 for an error that came inside a stream.
ModelFailure anthropic_failure(const ErrorBody& error, int status);

}  // namespace errand::llm
