#include "llm/model.hpp"

#include <utility>

namespace errand::llm {

TextPtr share_text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

std::vector<MessagePtr> share_messages(std::vector<Message> messages) {
  std::vector<MessagePtr> shared;
  shared.reserve(messages.size());
  for (Message& message : messages) {
    shared.push_back(std::make_shared<const Message>(std::move(message)));
  }
  return shared;
}

}  // namespace errand::llm
