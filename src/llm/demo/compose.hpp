#pragma once

#include <string>
#include <vector>

#include "llm/demo/conversation.hpp"

namespace errand::llm {

// What is quoted of one tool's result; the answer says how much it leaves out.
constexpr std::size_t kQuotedLinesMax = 20;
constexpr std::size_t kQuotedLineBytesMax = 200;

// What the demo model says when it calls a tool, when an argument is missing, when no tool fits,
// and when the results are there. All but the first say who is talking.
std::string announce(const Plan& plan);
std::string ask_for_missing(const Plan& plan);
std::string answer_without_tool(const Conversation& conversation,
                                const std::vector<ToolDecl>& tools);
std::string answer_from_results(const Conversation& conversation);
// Which files came with the question; empty if none did.
std::string told_files(const Conversation& conversation);

}  // namespace errand::llm
