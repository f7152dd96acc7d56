#pragma once

#include <string>
#include <vector>

#include "llm/model.hpp"

namespace errand::llm {

// A question to a model, written down as plain values.
struct Question {
  std::string system_prompt;
  std::vector<Message> messages;
  std::vector<ToolDecl> tools;

  TurnRequest request() const {
    return {.system_prompt = share_text(system_prompt),
            .messages = share_messages(messages),
            .tools = share_decls(tools)};
  }
};

}  // namespace errand::llm
