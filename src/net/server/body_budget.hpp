#pragma once

#include <cstddef>
#include <utility>

namespace errand::net {

// How many bytes the bodies of all requests of a server may hold at once.
class BodyBudget final {
 public:
  explicit BodyBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // A share of the budget, given back on destruction. Must not outlive the budget.
  class Share final {
   public:
    Share() = default;
    Share(Share&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() {
      if (budget_ != nullptr) budget_->used_ -= bytes_;
    }

    // Makes the share at least `bytes` large; false if the budget does not have so much.
    [[nodiscard]] bool grow_to(BodyBudget& budget, std::size_t bytes) {
      if (bytes <= bytes_) return true;
      std::size_t more = bytes - bytes_;
      if (more > budget.bytes_max_ - budget.used_) return false;
      budget.used_ += more;
      budget_ = &budget;
      bytes_ = bytes;
      return true;
    }

   private:
    BodyBudget* budget_ = nullptr;
    std::size_t bytes_ = 0;
  };

  std::size_t used() const { return used_; }

 private:
  std::size_t bytes_max_;
  std::size_t used_ = 0;
};

}  // namespace errand::net
