#pragma once

#include <memory>

#include "async/timers.hpp"
#include "llm/model.hpp"
#include "llm/script.hpp"

namespace errand::llm {

// A model that plays turns from a script, for testing agents without a vendor. It picks the turn by
// the number of assistant messages in the request, never by a counter, so that recovered and forked
// runs get the same answers.
std::unique_ptr<Model> make_scripted_model(Script script, Timers& timers, Executor home);

}  // namespace errand::llm
