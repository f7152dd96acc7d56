#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "llm/demo/prompt.hpp"
#include "llm/model.hpp"

namespace errand::llm {

// A call that was made for the current question.
struct MadeCall {
  const ToolCallPart* call = nullptr;
  const ToolResultPart* result = nullptr;
};

// What a request says, as far as the demo model looks. Points into the request.
struct Conversation {
  std::vector<const std::string*> questions;  // what the user said, oldest first
  std::vector<FilePart> files;                // that came with the last question
  std::vector<MadeCall> made;                 // since the last question, with results
  std::size_t turns = 0;                      // of the assistant
};

Conversation read_conversation(const std::vector<Message>& messages);

// The calls that the last question asks for. Follows from the questions alone, so that a run that
// is recovered or forked wants the same.
struct Plan {
  const ToolDecl* tool = nullptr;      // nullptr: none fits
  std::vector<std::string> arguments;  // JSON, one per call
  std::vector<std::string> missing;    // what the user did not say
};

Plan make_plan(const Conversation& conversation, const std::vector<ToolDecl>& tools);

}  // namespace errand::llm
