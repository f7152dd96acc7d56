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

std::size_t rough_bytes(const TurnRequest& request) {
  constexpr std::size_t kSchemaBytes = 2048;
  std::size_t bytes = request.system_prompt->size();
  for (const ToolDecl& tool : *request.tools) bytes += tool.description.size() + kSchemaBytes;
  for (const MessagePtr& message : request.messages) {
    bytes += message->text.size();
    for (const ToolCallPart& call : message->calls) bytes += call.arguments.size();
    for (const ToolResultPart& result : message->results) bytes += result.text.size();
    for (const std::string& block : message->provider_blocks) bytes += block.size();
  }
  if (!request.files) return bytes;
  for (const auto& [hash, file] : request.files->bytes) bytes += file ? file->size() : 0;
  return bytes;
}

}  // namespace errand::llm
