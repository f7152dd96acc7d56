#pragma once

#include <boost/asio/this_coro.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "async/wakeup.hpp"
#include "base/result.hpp"

namespace errand {

// An answer that one task waits for and somebody else gives, on one home. Both hold it, and either
// may leave: who asked then gets nothing, and who answers answers nobody.
template <class T>
class PendingAnswer final {
 public:
  // The first answer counts.
  void settle(Result<T> answer) {
    if (answer_) return;
    answer_ = std::move(answer);
    if (waiting_) waiting_->notify();
  }
  bool is_settled() const { return answer_.has_value(); }

  // For one waiter, once.
  static Task<Result<T>> wait(std::shared_ptr<PendingAnswer> pending) {
    auto home = co_await asio::this_coro::executor;
    WakeupAt bell(home, pending->waiting_);
    while (!pending->answer_) co_await bell.wait();
    co_return std::move(*pending->answer_);
  }

 private:
  std::optional<Result<T>> answer_;
  Wakeup* waiting_ = nullptr;
};

template <class T>
using AnswerPtr = std::shared_ptr<PendingAnswer<T>>;

}  // namespace errand
