#pragma once

#include "llm/failure.hpp"
#include "llm/gemini/gemini_provider.hpp"

namespace errand::llm {

// What the request and the decoder of one turn agree on.
OutputMechanism gemini_output(const TurnRequest& request, const GeminiOptions& options);

// `status` is 0 for an error that came inside a stream.
ModelFailure gemini_failure(const ErrorBody& error, int status);

// The delay of a google.rpc.RetryInfo among the details.
std::optional<milliseconds> retry_delay(const ErrorBody& error);

}  // namespace errand::llm
