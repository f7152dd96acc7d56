#pragma once

#include <memory>

#include "tool/call_questions.hpp"
#include "tool/secrets.hpp"

namespace errand::agent {

// Asks the same questions without the secrets that the call was given: a server may repeat its
// input, and its questions get into events, into the journal and to the model. Null stays null.
// `secrets` outlives the result.
std::unique_ptr<CallQuestions> blotted(std::unique_ptr<CallQuestions> questions,
                                       const CallSecrets& secrets);

}  // namespace errand::agent
