#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace errand::net {

// Bytes that were read from a socket and not used yet, in one piece of memory.
class ReadBuffer final {
 public:
  static constexpr std::size_t kFirstBytes = 4096;

  std::string_view bytes() const { return {memory_.get() + begin_, end_ - begin_}; }
  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }

  // All the free room behind the bytes, at least `room`.
  std::span<char> prepare(std::size_t room) {
    if (capacity_ - end_ < room) make_room(room);
    return {memory_.get() + end_, capacity_ - end_};
  }
  void commit(std::size_t count) { end_ += count; }
  void consume(std::size_t count) {
    begin_ += count;
    if (empty()) begin_ = end_ = 0;
  }

  // Gives memory back that only a large request needed. The buffer must be empty.
  void shrink() {
    if (capacity_ > kFirstBytes) release();
  }

 private:
  void release() {
    memory_.reset();
    capacity_ = 0;
  }

  void make_room(std::size_t room) {
    std::size_t count = size();
    if (capacity_ - count >= room) {
      std::memmove(memory_.get(), memory_.get() + begin_, count);
    } else {
      std::size_t capacity = std::max({count + room, 2 * capacity_, kFirstBytes});
      auto larger = std::make_unique_for_overwrite<char[]>(capacity);
      if (count > 0) std::memcpy(larger.get(), memory_.get() + begin_, count);
      memory_ = std::move(larger);
      capacity_ = capacity;
    }
    begin_ = 0;
    end_ = count;
  }

  std::unique_ptr<char[]> memory_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace errand::net
