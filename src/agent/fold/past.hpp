#pragma once

#include <cstddef>
#include <span>

#include "llm/model.hpp"

namespace errand::agent {

// The bytes of text that a message adds to a conversation.
std::size_t conversation_bytes_of(const Message& message);

// What was said in a session before a run.
class Past final {
 public:
  Past() = default;
  // Adds to this copy; others stay as they are.
  void append(std::span<const llm::MessagePtr> messages);

  const llm::MessageList& messages() const { return messages_; }
  std::size_t size() const { return messages_.size(); }
  // The text of all messages, as the limit of a conversation counts it.
  std::size_t bytes() const { return bytes_; }

 private:
  llm::MessageList messages_;
  std::size_t bytes_ = 0;
};

}  // namespace errand::agent
