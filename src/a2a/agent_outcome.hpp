#pragma once

#include <string>
#include <vector>

#include "a2a/client.hpp"
#include "tool/tool.hpp"

namespace errand::a2a {

// What a reply of an agent is as the result of a tool. A task that waits for input is a result that
// says how to answer.
ToolOutcome outcome_of(Reply reply);
ToolOutcome outcome_of(const Error& error);

// The texts of the parts, below each other.
std::string text_of(const std::vector<Part>& parts);

// What a model is told of an agent: its description and its first skills.
std::string describe(const AgentCard& card);

}  // namespace errand::a2a
