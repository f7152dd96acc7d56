#include "llm/message_list.hpp"

#include <algorithm>
#include <utility>

namespace errand::llm {
namespace {

std::size_t count_answers(std::span<const MessagePtr> messages) {
  const auto is_answer = [](const MessagePtr& one) { return one->role == Role::assistant; };
  return static_cast<std::size_t>(std::ranges::count_if(messages, is_answer));
}

}  // namespace

MessageList::MessageList(std::vector<MessagePtr> messages)
    : size_(messages.size()), answers_(count_answers(messages)) {
  if (!messages.empty()) parts_.push_back(std::make_shared<const Part>(std::move(messages)));
}

void MessageList::append(std::span<const MessagePtr> messages) {
  if (messages.empty()) return;
  // Short parts at the end become one with what is added.
  std::size_t first = parts_.size();
  std::size_t added = messages.size();
  while (first > 0 && parts_[first - 1]->size() < 2 * added) added += parts_[--first]->size();
  Part part;
  part.reserve(added);
  for (std::size_t i = first; i < parts_.size(); ++i) {
    part.insert(part.end(), parts_[i]->begin(), parts_[i]->end());
  }
  part.insert(part.end(), messages.begin(), messages.end());
  parts_.resize(first);
  parts_.push_back(std::make_shared<const Part>(std::move(part)));
  size_ += messages.size();
  answers_ += count_answers(messages);
}

const MessagePtr& MessageList::operator[](std::size_t index) const {
  std::size_t part = 0;
  for (; index >= parts_[part]->size(); ++part) index -= parts_[part]->size();
  return (*parts_[part])[index];
}

}  // namespace errand::llm
