#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "async/task.hpp"
#include "async/wakeup.hpp"
#include "base/result.hpp"
#include "room/wire/content.hpp"

namespace errand::room {

// A task that waits for the answer to a request.
class WaitingRequest final {
 public:
  explicit WaitingRequest(Executor home) : bell_(std::move(home)) {}

  // The first one counts.
  void settle(Result<Content> result) {
    if (!result_) result_ = std::move(result);
    bell_.notify();
  }
  Task<Result<Content>> result() {
    while (!result_) co_await bell_.wait();
    co_return std::move(*result_);
  }

  // Among all that wait, by the id of the request, while this lives.
  class Entry final {
   public:
    using All = std::map<std::uint64_t, WaitingRequest*>;
    Entry(All& all, std::uint64_t id, WaitingRequest& me) : all_(all), id_(id) {
      all_.emplace(id, &me);
    }
    ~Entry() { all_.erase(id_); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    All& all_;
    const std::uint64_t id_;
  };

 private:
  std::optional<Result<Content>> result_;
  Wakeup bell_;
};

}  // namespace errand::room
