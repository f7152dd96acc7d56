#include "agent/fold/past.hpp"

namespace errand::agent {

std::size_t conversation_bytes_of(const Message& message) {
  std::size_t bytes = message.text.size();
  for (const std::string& block : message.provider_blocks) bytes += block.size();
  for (const ToolCallPart& call : message.calls) bytes += call.arguments.size();
  for (const ToolResultPart& result : message.results) bytes += result.text.size();
  return bytes;
}

void Past::append(std::span<const llm::MessagePtr> messages) {
  messages_.append(messages);
  for (const llm::MessagePtr& message : messages) bytes_ += conversation_bytes_of(*message);
}

}  // namespace errand::agent
