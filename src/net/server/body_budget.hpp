#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.hpp"

namespace errand::net {

// How many bytes the bodies of all requests of a server may hold at once, and how many the bodies
// of one holder, such as a key or an address: no holder can take the room of all others.
class BodyBudget final {
 public:
  BodyBudget(std::size_t bytes_max, std::size_t holder_bytes_max)
      : bytes_max_(bytes_max), holder_bytes_max_(holder_bytes_max) {}

  enum class Verdict : std::uint8_t { granted, none_left, none_left_for_holder };

  // A share of the budget, given back on destruction. Must not outlive the budget.
  class Share final {
   public:
    Share() = default;
    Share(Share&& other) noexcept { swap(other); }
    Share& operator=(Share&& other) noexcept {
      swap(other);
      return *this;
    }
    ~Share() {
      if (budget_ != nullptr) budget_->give_back(bytes_, holders_);
    }

    // The holders whose share it counts in, with the bytes so far; said once.
    [[nodiscard]] Verdict set_holders(BodyBudget& budget, std::vector<std::string> holders) {
      ERRAND_ASSERT(holders_.empty());
      if (!budget.have_room(bytes_, holders)) return Verdict::none_left_for_holder;
      budget_ = &budget;
      holders_ = std::move(holders);
      for (const std::string& holder : holders_) budget.by_holder_[holder] += bytes_;
      return Verdict::granted;
    }

    // Makes the share at least `bytes` large, if the budget allows it.
    [[nodiscard]] Verdict grow_to(BodyBudget& budget, std::size_t bytes) {
      if (bytes <= bytes_) return Verdict::granted;
      Verdict verdict = budget.take(bytes - bytes_, holders_);
      if (verdict != Verdict::granted) return verdict;
      budget_ = &budget;
      bytes_ = bytes;
      return verdict;
    }

   private:
    void swap(Share& other) {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      std::swap(holders_, other.holders_);
    }

    BodyBudget* budget_ = nullptr;
    std::size_t bytes_ = 0;
    std::vector<std::string> holders_;
  };

  std::size_t used() const { return used_; }

 private:
  bool have_room(std::size_t more, const std::vector<std::string>& holders) const {
    return std::all_of(holders.begin(), holders.end(), [&](const std::string& holder) {
      auto found = by_holder_.find(holder);
      return (found == by_holder_.end() ? 0 : found->second) + more <= holder_bytes_max_;
    });
  }

  Verdict take(std::size_t more, const std::vector<std::string>& holders) {
    if (more > bytes_max_ - used_) return Verdict::none_left;
    if (!have_room(more, holders)) return Verdict::none_left_for_holder;
    used_ += more;
    for (const std::string& holder : holders) by_holder_[holder] += more;
    return Verdict::granted;
  }

  void give_back(std::size_t bytes, const std::vector<std::string>& holders) {
    used_ -= bytes;
    for (const std::string& holder : holders) {
      auto found = by_holder_.find(holder);
      if (found != by_holder_.end() && (found->second -= bytes) == 0) by_holder_.erase(found);
    }
  }

  const std::size_t bytes_max_;
  const std::size_t holder_bytes_max_;
  std::size_t used_ = 0;
  std::map<std::string, std::size_t, std::less<>> by_holder_;
};

}  // namespace errand::net
