#pragma once

#include <string>
#include <vector>

#include "llm/model.hpp"

namespace errand::llm {

// What a model is asked, with the storage of its parts.
struct Question {
  std::string system_prompt;
  std::vector<Message> messages;
  std::vector<ToolDecl> tools;

  TurnRequest request() const {
    return {.system_prompt = system_prompt, .messages = messages, .tools = tools};
  }
};

}  // namespace errand::llm
