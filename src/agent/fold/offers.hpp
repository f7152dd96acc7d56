#pragma once

#include "agent/fold/state.hpp"

namespace errand::agent {

// What a client is asked to do for a call of one of its tools. `args` is what events show of the
// call's arguments (shown_arguments).
LocalToolCall offer_of(const CallState& call, std::string args);

// Whether calls of the tool may be made again after they were cut off.
bool promises_repeat(const ToolDecl& tool);

}  // namespace errand::agent
