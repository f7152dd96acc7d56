#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

#include "run/message.hpp"

namespace errand::llm {

using MessagePtr = std::shared_ptr<const Message>;

// What was said, in order. None is null. A copy shares the parts of the list, which never change,
// so it costs about the same however long the list is, and may go to another thread.
class MessageList final {
 public:
  MessageList() = default;
  MessageList(std::vector<MessagePtr> messages);  // implicit: a list of these alone
  // Adds to this list; copies stay as they are.
  void append(std::span<const MessagePtr> messages);

  class Iterator;
  Iterator begin() const;
  Iterator end() const;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // How many of them the model said.
  std::size_t answers() const { return answers_; }
  // Takes as many steps as the list has parts.
  const MessagePtr& operator[](std::size_t index) const;
  const MessagePtr& front() const { return parts_.front()->front(); }
  const MessagePtr& back() const { return parts_.back()->back(); }

 private:
  using Part = std::vector<MessagePtr>;

  // None is empty, and each has at least twice the messages of the one after it: a list of a
  // thousand messages has ten parts at most.
  std::vector<std::shared_ptr<const Part>> parts_;
  std::size_t size_ = 0;
  std::size_t answers_ = 0;
};

// Good until the list changes or ends.
class MessageList::Iterator final {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = MessagePtr;
  using difference_type = std::ptrdiff_t;
  using pointer = const MessagePtr*;
  using reference = const MessagePtr&;

  Iterator() = default;
  reference operator*() const { return (*(*list_).parts_[part_])[index_]; }
  pointer operator->() const { return &**this; }
  Iterator& operator++() {
    if (++index_ == list_->parts_[part_]->size()) {
      ++part_;
      index_ = 0;
    }
    return *this;
  }
  Iterator operator++(int) {
    Iterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Iterator&) const = default;

 private:
  friend class MessageList;
  Iterator(const MessageList* list, std::size_t part) : list_(list), part_(part) {}

  const MessageList* list_ = nullptr;
  std::size_t part_ = 0;
  std::size_t index_ = 0;
};

inline MessageList::Iterator MessageList::begin() const {
  return {this, 0};
}

inline MessageList::Iterator MessageList::end() const {
  return {this, parts_.size()};
}

}  // namespace errand::llm
