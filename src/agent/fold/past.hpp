#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "llm/model.hpp"

namespace errand::agent {

// The bytes of text that a message adds to a conversation.
std::size_t conversation_bytes_of(const Message& message);

// What was said in a session before a run. Copies share one list, which grows at its end only, so
// that a copy costs the same however long the past is. All copies are used on one thread.
class Past final {
 public:
  Past() = default;
  // Adds to this copy; others stay as they are.
  void append(std::span<const llm::MessagePtr> messages);

  std::size_t size() const { return size_; }
  // The text of all messages, as the limit of a conversation counts it.
  std::size_t bytes() const { return bytes_; }
  // Good until a copy grows.
  const llm::MessagePtr* begin() const { return messages_ ? messages_->data() : nullptr; }
  const llm::MessagePtr* end() const { return begin() + size_; }

 private:
  using Messages = std::vector<llm::MessagePtr>;

  std::shared_ptr<Messages> messages_;  // the first `size_` of these; null: none
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace errand::agent
