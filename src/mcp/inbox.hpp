#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "async/wakeup.hpp"
#include "rpc/connection.hpp"

namespace errand::mcp {

// Messages that a transport has received and that were not taken yet. Its fillers wait while it is
// full.
class Inbox final {
 public:
  static constexpr std::size_t kItemsMax = 1024;

  explicit Inbox(const Executor& home) : ready_(home) {}

  void put(rpc::Received item) {
    if (is_closed_) return;
    items_.push_back(std::move(item));
    ready_.notify();
  }
  bool is_full() const { return items_.size() >= kItemsMax; }

  // What is there can still be taken; then comes the end.
  void close(std::optional<Error> why) {
    if (is_closed_) return;
    is_closed_ = true;
    end_ = std::move(why);
    ready_.notify();
  }
  bool is_closed() const { return is_closed_; }

  Task<Result<std::optional<rpc::Received>>> take() {
    for (;;) {
      if (!items_.empty()) {
        rpc::Received item = std::move(items_.front());
        items_.pop_front();
        co_return std::optional<rpc::Received>(std::move(item));
      }
      if (is_closed_ && end_) co_return *end_;
      if (is_closed_) co_return std::optional<rpc::Received>();
      co_await ready_.wait();
    }
  }

 private:
  std::deque<rpc::Received> items_;
  bool is_closed_ = false;
  std::optional<Error> end_;
  Wakeup ready_;
};

}  // namespace errand::mcp
