#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "async/wakeup.hpp"

namespace errand {

// A bounded queue between actors of one home, with one receiver. The sender decides what happens
// when it is full.
template <class T>
class Channel final {
 public:
  Channel(Executor home, std::size_t capacity) : ready_(std::move(home)), capacity_(capacity) {}

  enum class Sent { yes, full, closed };
  [[nodiscard]] Sent try_send(T item) {
    if (closed_) return Sent::closed;
    if (items_.size() >= capacity_) return Sent::full;
    items_.push_back(std::move(item));
    ready_.notify();
    return Sent::yes;
  }

  // What was sent before stays receivable.
  void close() {
    closed_ = true;
    ready_.notify();
  }

  // The next item; nothing once the channel is closed and empty.
  Task<std::optional<T>> receive() {
    for (;;) {
      if (!items_.empty()) co_return take();
      if (closed_) co_return std::nullopt;
      co_await ready_.wait();
    }
  }

  std::size_t size() const { return items_.size(); }

 private:
  std::optional<T> take() {
    std::optional<T> item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

  std::deque<T> items_;
  Wakeup ready_;
  std::size_t capacity_;
  bool closed_ = false;
};

}  // namespace errand
