#pragma once

#include "llm/failure.hpp"

namespace errand::llm {

// What an error of OpenAI or of a compatible server means. `status` is 0 for one that came inside a
// stream.
ModelFailure openai_failure(const ErrorBody& error, int status);

// "... try again in 1.898s": the wait that a message asks for.
std::optional<milliseconds> wait_in_message(std::string_view message);

ApiFailure classify_openai(const ApiAnswer& answer);

}  // namespace errand::llm
