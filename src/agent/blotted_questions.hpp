#pragma once

#include <memory>

#include "tool/call_questions.hpp"
#include "tool/secrets.hpp"

namespace errand::agent {

// Asks the same without the secrets that the call was given: a server may repeat what it was sent,
// and what it asks gets into events, into the journal and to the model. Null stays null. `secrets`
// outlives the result.
std::unique_ptr<CallQuestions> blotted(std::unique_ptr<CallQuestions> questions,
                                       const CallSecrets& secrets);

}  // namespace errand::agent
